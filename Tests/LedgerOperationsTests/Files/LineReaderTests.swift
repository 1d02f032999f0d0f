import Foundation
import Glibc
import LedgerOperations
import Synchronization
import SystemPackage
import Testing

struct `Lines of a file` {
    @Test func `begin behind a byte-order mark, unless it is a part of what is read`() throws {
        try withTemporaryFolder { folder throws in
            let (path, mark) = (folder + "/lines", [0xEF, 0xBB, 0xBF] as [UInt8])
            let (one, other) = (Array("one".utf8), Array("other".utf8))
            try Data(mark + one + [0x0A] + mark + other).write(to: URL(filePath: path))
            func lines(keepsMark: Bool) throws -> [[UInt8]] {
                let reader = try LineReader(path, keepsMark: keepsMark)
                var lines: [[UInt8]] = []
                while let line = try reader.next() { lines.append(line.bytes ?? []) }
                return lines
            }
            #expect(try lines(keepsMark: false) == [one, mark + other])
            #expect(try lines(keepsMark: true) == [mark + one, mark + other])
        }
    }
}

struct `Lines that are waited for` {
    /// A reader of a pipe that nobody closes, on a thread that takes signals.
    private final class Waiting: Sendable {
        let isInterrupted = Atomic<Bool>(false)
        private let thread = Mutex<pthread_t?>(nil)
        private let outcome = Mutex<Result<LineReader.Line?, any Error>?>(nil)

        func begin(_ path: String) {
            Thread { [self] in
                var mask = sigset_t()
                unsafe sigemptyset(&mask)
                unsafe sigaddset(&mask, SIGUSR1)
                unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
                thread.withLock { $0 = pthread_self() }
                let result = Result {
                    try LineReader(
                        path,
                        isInterrupted: { [self] in
                            isInterrupted.load(ordering: .relaxed)
                        }
                    ).next()
                }
                outcome.withLock { $0 = result }
            }.start()
        }

        /// Sends the thread a signal; false before it runs.
        func wake() -> Bool {
            thread.withLock { thread in
                guard let thread else { return false }
                return pthread_kill(thread, SIGUSR1) == 0
            }
        }

        /// What the reader got, at most so many seconds later; nil: it waits.
        func answer(seconds: Int) -> Result<LineReader.Line?, any Error>? {
            for _ in 0...(seconds * 1_000) {
                if let result = outcome.withLock({ $0 }) { return result }
                usleep(1_000)
            }
            return nil
        }
    }

    @Test(arguments: [true, false])
    func `end at an interrupt that a signal brings, and only there`(_ isInterrupt: Bool) throws {
        signal(SIGUSR1) { _ in }
        let path = "/tmp/lines-\(UUID().uuidString)"
        try #require(unsafe mkfifo(path, 0o600) == 0)
        defer { unsafe unlink(path) }
        let pipe = try unsafe FileDescriptor.open(path, .readWrite)
        defer { try? pipe.close() }
        let waiting = Waiting()
        waiting.begin(path)
        while !waiting.wake() { usleep(1_000) }
        _ = try pipe.writeAll(Array(#"{"a piece"#.utf8))
        // Signals that mean nothing find it reading, waiting, and looking.
        for _ in 0..<50 {
            usleep(3_000)
            _ = waiting.wake()
        }
        #expect(waiting.answer(seconds: 0) == nil)
        if isInterrupt {
            waiting.isInterrupted.store(true, ordering: .relaxed)
            _ = waiting.wake()
            let answer = waiting.answer(seconds: 20)
            // Who waits yet goes away.
            _ = try pipe.writeAll(Array("\n".utf8))
            #expect(try #require(answer, "a reader does not see an interrupt").get() == nil)
        } else {
            _ = try pipe.writeAll(Array(" of a line\"}\n".utf8))
            let line = try #require(waiting.answer(seconds: 20)).get()
            #expect(line?.bytes == Array(#"{"a piece of a line"}"#.utf8))
        }
    }
}
