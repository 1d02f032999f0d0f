import Dispatch
import LedgerOperations
import Testing

struct `Waiting for what is asynchronous` {
    @Test func `gives the result of a body that suspends and has child tasks`() {
        let sum = Blocking.wait {
            await Task.yield()
            return await withTaskGroup(of: Int.self) { group in
                for number in 1...100 {
                    group.addTask {
                        await Task.yield()
                        return number
                    }
                }
                return await group.reduce(0, +)
            }
        }
        #expect(sum == 5050)
    }

    @Test func `goes on after what other threads finish`() async {
        let counter = Counter()
        let count = await Self.apart {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask(executorPreference: globalConcurrentExecutor) {
                        await counter.increase()
                    }
                }
            }
            return await Task.detached { await counter.count }.value
        }
        #expect(count == 100)
    }

    /// Waits on a thread that is none of the pool's, which the body needs.
    private static func apart(_ body: @escaping @Sendable () async -> Int) async -> Int {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: Blocking.wait(body)) }
        }
    }

    /// Without a thread of its own each body would wait for one that is waiting.
    @Test func `needs none of the shared pool's threads, and may hold all of them`() async {
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...64 {
                group.addTask {
                    Blocking.wait {
                        await Task.yield()
                        return number
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 2080)
    }

    private actor Counter {
        var count = 0

        func increase() { count += 1 }
    }
}
