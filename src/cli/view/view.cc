// SPDX-License-Identifier: MIT
// The graph of `babeltrace2 DIR`, with a printer of our own:
//
//     source.ctf.fs  ==one port per stream==>  filter.utils.muxer  -->  ViewPrinter  -->  stdout
//
// The library counts references; each kind is held by a unique_ptr with its put function. Components belong
// to the graph.
#include "cli/view/view.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "cli/output/color.h"
#include "cli/view/babeltrace.h"
#include "cli/view/view_printer.h"

namespace blip::cli {

namespace {

template <auto& Put>
struct Putter {
  template <typename T>
  void operator()(T* object) const {
    Put(object);
  }
};
using Graph = std::unique_ptr<bt_graph, Putter<bt::graph_put_ref>>;
using Value = std::unique_ptr<bt_value, Putter<bt::value_put_ref>>;
using Plugin = std::unique_ptr<const bt_plugin, Putter<bt::plugin_put_ref>>;
using Interrupter = std::unique_ptr<bt_interrupter, Putter<bt::interrupter_put_ref>>;
using BtError = std::unique_ptr<const bt_error, Putter<bt::error_release>>;

// The library's message about its last failure on this thread: the cause nearest to the root.
Error library_error(const std::string& what) {
  const BtError error(bt::current_thread_take_error());
  if (!error || bt::error_get_cause_count(error.get()) == 0) return Error(ErrorKind::kInvalid, what);
  const bt_error_cause* cause = bt::error_borrow_cause_by_index(error.get(), 0);
  return Error(ErrorKind::kInvalid, what + ": " + bt::error_cause_get_message(cause));
}

Result<Plugin> find_plugin(const char* name) {
  const bt_plugin* plugin = nullptr;
  if (bt::plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
      BT_PLUGIN_FIND_STATUS_OK) {
    return library_error(std::string("babeltrace2 has no plugin \"") + name + "\": install babeltrace2");
  }
  return Plugin(plugin);
}

Result<Value> source_parameters(const std::string& dir) {
  Value parameters(bt::value_map_create());
  bt_value* inputs = nullptr;
  if (!parameters ||
      bt::value_map_insert_empty_array_entry(parameters.get(), "inputs", &inputs) !=
          BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
      bt::value_array_append_string_element(inputs, dir.c_str()) != BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK) {
    return library_error("out of memory");
  }
  return parameters;
}

Result<const bt_component_source*> add_source(bt_graph* graph, const std::string& dir) {
  TRY(const Plugin plugin, find_plugin("ctf"));
  TRY(const Value parameters, source_parameters(dir));
  const auto* kind = bt::plugin_borrow_source_component_class_by_name_const(plugin.get(), "fs");
  const bt_component_source* source = nullptr;
  if (!kind || bt::graph_add_source_component(graph, kind, "trace", parameters.get(), BT_LOGGING_LEVEL_NONE,
                                              &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
    return library_error(dir + ": cannot read the trace");
  }
  return source;
}

Result<const bt_component_filter*> add_muxer(bt_graph* graph) {
  TRY(const Plugin plugin, find_plugin("utils"));
  const auto* kind = bt::plugin_borrow_filter_component_class_by_name_const(plugin.get(), "muxer");
  const bt_component_filter* muxer = nullptr;
  if (!kind || bt::graph_add_filter_component(graph, kind, "muxer", nullptr, BT_LOGGING_LEVEL_NONE, &muxer) !=
                   BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
    return library_error("cannot merge the streams of the trace");
  }
  return muxer;
}

Status connect(bt_graph* graph, const bt_port_output* from, const bt_port_input* to) {
  if (from && to && bt::graph_connect_ports(graph, from, to, nullptr) == BT_GRAPH_CONNECT_PORTS_STATUS_OK) {
    return {};
  }
  return library_error("cannot read the streams of the trace");
}

// The muxer grows a free input port whenever one is taken.
Status connect_streams(bt_graph* graph, const bt_component_source* source, const bt_component_filter* muxer) {
  const uint64_t streams = bt::component_source_get_output_port_count(source);
  for (uint64_t i = 0; i < streams; ++i) {
    TRY_OK(connect(graph, bt::component_source_borrow_output_port_by_index_const(source, i),
                   bt::component_filter_borrow_input_port_by_index_const(
                       muxer, bt::component_filter_get_input_port_count(muxer) - 1)));
  }
  return {};
}

template <typename Sink>
Result<Graph> build_graph(const std::string& dir, Sink& sink) {
  Graph graph(bt::graph_create(0));
  if (!graph) return library_error("out of memory");
  TRY(const auto* source, add_source(graph.get(), dir));
  TRY(const auto* muxer, add_muxer(graph.get()));
  TRY(const auto* end, sink.add_to(graph.get()));
  TRY_OK(connect_streams(graph.get(), source, muxer));
  TRY_OK(connect(graph.get(), bt::component_filter_borrow_output_port_by_index_const(muxer, 0),
                 bt::component_sink_borrow_input_port_by_index_const(end, 0)));
  return graph;
}

bool wants_color(ViewColor color) {
  if (color != ViewColor::kAuto) return color == ViewColor::kAlways;
  return use_color(ColorChoice::kAuto, STDOUT_FILENO);
}

bt_interrupter* active_interrupter = nullptr;

// While it lives, SIGINT and SIGTERM end the run of the graph, and SIGPIPE ends the program.
class ViewSignals {
 public:
  explicit ViewSignals(bt_interrupter* interrupter) {
    active_interrupter = interrupter;
    install(
        SIGINT, [](int) { bt::interrupter_set(active_interrupter); }, before_int_);
    install(
        SIGTERM, [](int) { bt::interrupter_set(active_interrupter); }, before_term_);
    install(SIGPIPE, SIG_DFL, before_pipe_);
  }
  ~ViewSignals() {
    ::sigaction(SIGINT, &before_int_, nullptr);
    ::sigaction(SIGTERM, &before_term_, nullptr);
    ::sigaction(SIGPIPE, &before_pipe_, nullptr);
    active_interrupter = nullptr;
  }
  ViewSignals(const ViewSignals&) = delete;
  ViewSignals& operator=(const ViewSignals&) = delete;

 private:
  static void install(int signal, void (*handler)(int), struct sigaction& before) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, &before);
  }

  struct sigaction before_int_;
  struct sigaction before_term_;
  struct sigaction before_pipe_;
};

Status run(bt_graph* graph, const bt_interrupter* interrupter, const std::string& dir) {
  auto status = BT_GRAPH_RUN_STATUS_AGAIN;
  while (status == BT_GRAPH_RUN_STATUS_AGAIN && !bt::interrupter_is_set(interrupter))
    status = bt::graph_run(graph);
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    return Error::from_errno(errno, "cannot write the output");
  if (status != BT_GRAPH_RUN_STATUS_OK && !bt::interrupter_is_set(interrupter))
    return library_error(dir + ": the trace is damaged");
  return {};
}

Status check_is_trace(const std::string& dir) {
  struct stat info;
  if (::stat(dir.c_str(), &info) != 0) return Error::from_errno(errno, dir);
  if (!S_ISDIR(info.st_mode))
    return Error(ErrorKind::kUsage, dir + ": is not a directory: give the one that blip record made");
  if (::stat((dir + "/metadata").c_str(), &info) != 0)
    return Error(ErrorKind::kNotFound, dir + ": no trace in it: give the directory that blip record made");
  return {};
}

template <typename Sink>
Status run_through(const std::string& dir, Sink& sink, const bt_interrupter* interrupter) {
  TRY(const Graph graph, build_graph(dir, sink));
  if (bt::graph_add_interrupter(graph.get(), interrupter) != BT_GRAPH_ADD_INTERRUPTER_STATUS_OK)
    return library_error("out of memory");
  return run(graph.get(), interrupter, dir);
}

}  // namespace

Result<ViewTotals> view_trace(const std::string& dir, const ViewStyle& style) {
  TRY_OK(check_is_trace(dir));
  TRY_OK(bt::load());
  const Interrupter interrupter(bt::interrupter_create());
  if (!interrupter) return library_error("out of memory");
  const ViewSignals signals(interrupter.get());
  ViewFilter filter(style.selection);
  if (style.selection.needs_end()) {
    SpanFinder finder;
    TRY_OK(run_through(dir, finder, interrupter.get()));
    filter.know(finder.span());
  }
  ViewPrinter printer(wants_color(style.color), style.json, style.hex, filter);
  if (!bt::interrupter_is_set(interrupter.get())) TRY_OK(run_through(dir, printer, interrupter.get()));
  return filter.totals();
}

}  // namespace blip::cli
