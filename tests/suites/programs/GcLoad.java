// SPDX-License-Identifier: MIT
// GcLoad ROUNDS: garbage of all sizes beside objects that live long, in three threads; and what a virtual machine leaves to signals and guard
// pages: null pointers, stacks that overflow. The output is the same in every run.
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

public class GcLoad {
    record Node(int seed, Node left, Node right) {}

    static Node tree(int depth, int seed) {
        if (depth == 0) return new Node(seed, null, null);
        return new Node(seed, tree(depth - 1, seed * 31 + 1), tree(depth - 1, seed * 37 + 2));
    }

    static int sum(Node node) {
        return node == null ? 0 : node.seed + 3 * sum(node.left) + 5 * sum(node.right);
    }

    // Through native code: zlib, digests, strings.
    static int throughNative(int seed) throws Exception {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 500; ++i) text.append(seed * i).append(',').append(i % 17);
        byte[] bytes = text.toString().getBytes("UTF-8"), packed = new byte[2 * bytes.length + 100], back = new byte[bytes.length];
        Deflater deflater = new Deflater();
        deflater.setInput(bytes);
        deflater.finish();
        int size = deflater.deflate(packed);
        deflater.end();
        Inflater inflater = new Inflater();
        inflater.setInput(packed, 0, size);
        inflater.inflate(back);
        inflater.end();
        if (!new String(back, "UTF-8").contentEquals(text)) throw new Error("what was packed is not what was unpacked");
        return MessageDigest.getInstance("SHA-256").digest(back)[0];
    }

    // A fault that the virtual machine turns into an exception.
    static int ofNothing(Node node) {
        try {
            return node.seed;
        } catch (NullPointerException e) {
            return 1;
        }
    }

    static int overflow(int n) { return overflow(n + 1) + 1; }

    static int ofTooMuch() {
        try {
            return overflow(0);
        } catch (StackOverflowError e) {
            return 2;
        }
    }

    static int load(int rounds, int seed) throws Exception {
        Map<Integer, Node> kept = new HashMap<>();
        int check = seed;
        for (int round = 0; round < rounds; ++round) {
            kept.put(round % 50, tree(9, round));
            check = check * 33 + sum(tree(12, round)) + throughNative(round) + ofNothing(round % 3 == 0 ? null : kept.get(0));
            if (round % 100 == 0) check += ofTooMuch();
            if (round % 200 == 0) System.gc();
            for (Node entry : kept.values())
                if (sum(entry) != sum(tree(9, entry.seed))) throw new Error("entry " + entry.seed + " has changed");
        }
        return check;
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        int[] sums = new int[3];
        Thread[] threads = new Thread[sums.length];
        for (int i = 0; i < sums.length; ++i) {
            int seed = i;
            threads[i] = new Thread(() -> {
                try {
                    sums[seed] = load(rounds, seed);
                } catch (Throwable wrong) {
                    System.out.println("thread " + seed + ": " + wrong);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        for (int i = 0; i < sums.length; ++i) System.out.println("thread " + i + ": " + sums[i]);
    }
}
