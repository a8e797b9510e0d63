// SPDX-License-Identifier: MIT
// A cache that never helps. A shop renders the pages of 200 articles and keeps them, so that each is rendered once; still it
// renders all the time, and grows. README.md finds out why.
//
//   g++ -O2 -g cache.cc -o cache && ./cache [SECONDS]      (ends by itself, default 60)
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unordered_map>

#define STEP __attribute__((noinline))  // stays a function of its own

namespace shop {

constexpr int kArticles = 200;
constexpr auto kPause = std::chrono::microseconds(200);

struct Page {
  std::string html;
  int views = 0;
};

class PageCache {
 public:
  Page* find(const std::string& key);
  Page* store(const std::string& key, Page page);
  size_t size() const { return pages_.size(); }

 private:
  std::unordered_map<std::string, Page> pages_;
};

STEP Page* PageCache::find(const std::string& key) {
  const auto found = pages_.find(key);
  return found == pages_.end() ? nullptr : &found->second;
}

STEP Page* PageCache::store(const std::string& key, Page page) { return &(pages_[key] = std::move(page)); }

STEP Page render(const std::string& url) {
  Page page;
  for (int line = 0; line < 200; ++line)
    page.html += "<p>" + url + " " + std::to_string(line * line) + "</p>\n";
  return page;
}

// Returns the name that the cache has for the page of a URL.
#ifndef FIXED
STEP std::string cache_key(const std::string& url) { return url; }
#else
STEP std::string cache_key(const std::string& url) { return url.substr(0, url.find('?')); }
#endif

STEP size_t serve(PageCache& cache, const std::string& url) {
  const std::string key = cache_key(url);
  Page* page = cache.find(key);
  if (page == nullptr) page = cache.store(key, render(url));
  ++page->views;
  return page->html.size();
}

}  // namespace shop

static volatile std::sig_atomic_t stopping;

int main(int argc, char** argv) {
  std::signal(SIGTERM, [](int) { stopping = 1; });
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 60);
  shop::PageCache cache;
  unsigned long served = 0;
  for (; !stopping && std::chrono::steady_clock::now() < end; ++served) {
    const unsigned long article = served * 31 % shop::kArticles;
    shop::serve(cache, "/article/" + std::to_string(article) + "?visit=" + std::to_string(served));
    std::this_thread::sleep_for(shop::kPause);
  }
  std::printf("cache: %lu pages served, %zu pages kept\n", served, cache.size());
  return 0;
}
