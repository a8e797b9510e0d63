// SPDX-License-Identifier: MIT
// gc_load.js ROUNDS: garbage of all sizes beside objects that live long, in two workers and the main thread. Every object's content follows from
// a seed: what a collection has moved or lost is noticed. The output is the same in every run.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const crypto = require('crypto');
const zlib = require('zlib');

function tree(depth, seed) {
  if (depth === 0) return { seed, left: null, right: null };
  return { seed, left: tree(depth - 1, (seed * 31 + 1) | 0), right: tree(depth - 1, (seed * 37 + 2) | 0) };
}

function sum(node) {
  return node === null ? 0 : (node.seed + 3 * sum(node.left) + 5 * sum(node.right)) | 0;
}

// Through the native parts: compression, digests, JSON, regular expressions, memory outside of the heap.
function native(seed) {
  const text = JSON.stringify(Array.from({ length: 200 }, (_, i) => ({ i, value: (seed * i) | 0, name: `n${i % 17}` })));
  const back = zlib.inflateSync(zlib.deflateSync(Buffer.from(text))).toString();
  if (back !== text) throw new Error('what was packed is not what was unpacked');
  const names = back.replace(/"n(\d+)"/g, '<$1>').length;
  return crypto.createHash('sha256').update(back).digest().readInt32LE(0) + names;
}

function deep(n) { return n === 0 ? caught(null) : deep(n - 1); }
function caught(nothing) {
  try { return nothing.length; } catch (e) { return e instanceof TypeError ? 1 : 0; }
}

function load(rounds, seed) {
  const kept = new Map();
  let check = seed;
  for (let round = 0; round < rounds; ++round) {
    kept.set(round % 50, { seed: round, tree: tree(9, round) });
    check = (check * 33 + sum(tree(12, round)) + native(round) + deep(100)) | 0;
    for (const entry of kept.values())
      if (round % 10 === 0 && sum(entry.tree) !== sum(tree(9, entry.seed))) throw new Error(`entry ${entry.seed} has changed`);
  }
  return check;
}

if (!isMainThread) {
  parentPort.postMessage(load(workerData.rounds, workerData.seed));
} else {
  const rounds = Number(process.argv[2]);
  const workers = [1, 2].map((seed) => new Promise((done, failed) => {
    const worker = new Worker(__filename, { workerData: { rounds, seed }, resourceLimits: { maxOldGenerationSizeMb: 48 } });
    worker.on('message', done);
    worker.on('error', failed);
  }));
  const mine = load(rounds, 3);
  Promise.all(workers).then((sums) => console.log([mine, ...sums].map((s, i) => `thread ${i}: ${s}`).join('\n')));
}
