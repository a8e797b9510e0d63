// SPDX-License-Identifier: MIT
// Faults that HotSpot turns into exceptions: null pointers, stack overflows, safepoints, memory mapped from a file that was cut.
import java.io.*;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

public class Faults {
  static class Box {
    int value;
  }

  static int sum(Box[] boxes) {
    int sum = 0;
    for (Box box : boxes) {
      try {
        sum += box.value;
      } catch (NullPointerException e) {
        sum += 1000;
      }
    }
    return sum;
  }

  static void dive() {
    dive();
  }

  static String readBeyondTheEnd() throws IOException {
    File file = File.createTempFile("faults", ".map");
    file.deleteOnExit();
    try (RandomAccessFile opened = new RandomAccessFile(file, "rw")) {
      opened.setLength(65536);
      MappedByteBuffer map = opened.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 65536);
      opened.setLength(4096);
      return "read " + map.get(40000);
    } catch (InternalError e) {
      return "InternalError";
    }
  }

  static void oneRound() throws Exception {
    Box[] boxes = new Box[100];
    for (int i = 0; i < 100; i += 2) boxes[i] = new Box();
    int nulls = 0, overflows = 0;
    for (int i = 0; i < 2000; i++) nulls += sum(boxes);
    for (int i = 0; i < 3; i++) {
      try {
        dive();
      } catch (StackOverflowError e) {
        overflows++;
      }
    }
    Thread[] threads = new Thread[4];
    for (int t = 0; t < threads.length; t++) {
      threads[t] = new Thread(() -> {
        for (int i = 0; i < 2000; i++) sum(boxes);
      });
      threads[t].start();
    }
    for (int i = 0; i < 5; i++) System.gc();
    for (Thread thread : threads) thread.join();
    System.out.println("nulls=" + nulls + " overflows=" + overflows + " map=" + readBeyondTheEnd());
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    while (in.readLine() != null) {
      oneRound();
      System.out.println("done");
    }
  }
}
