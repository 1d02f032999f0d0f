import Dispatch
import Synchronization
import Testing

@testable import LedgerServer

/// Threads that wait for the disk, and those that answer.
struct `A server whose disk is slow` {
    /// How far what was asked for is.
    private final class Progress: Sendable {
        let begun = Atomic(0)
        let isRecorded = Atomic(false)
        let isAnswered = Atomic(false)
    }

    @Test func `answers questions while all that is recorded waits`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let disk = DispatchSemaphore(value: 0)
            let progress = Progress()
            let threads = TestServer.threadCount
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<threads {
                    group.addTask {
                        try await server.service.blocking {
                            progress.begun.add(1, ordering: .relaxed)
                            disk.wait()
                        }
                    }
                }
                while progress.begun.load(ordering: .relaxed) < threads {
                    try await Task.sleep(for: .milliseconds(5))
                }
                group.addTask {
                    try await server.service.appending {
                        progress.isRecorded.store(true, ordering: .relaxed)
                    }
                }
                group.addTask {
                    let path = "/v1/customers/never-asked"
                    let access = try await server.get(path + "/features/export")
                    let state = try await server.get(path)
                    #expect(access.status == 200 && state.status == 200)
                    progress.isAnswered.store(true, ordering: .relaxed)
                }
                // A server that waits with its answers ends with the disk's, not never.
                let end = ContinuousClock.now + .seconds(300)
                while !progress.isAnswered.load(ordering: .relaxed), .now < end {
                    try await Task.sleep(for: .milliseconds(5))
                }
                let isAnswered = progress.isAnswered.load(ordering: .relaxed)
                #expect(isAnswered)
                // Control: what is to be recorded is behind the others.
                let isEarly = progress.isRecorded.load(ordering: .relaxed)
                #expect(!isEarly)
                for _ in 0..<threads { disk.signal() }
                try await group.waitForAll()
            }
            let isDone = progress.isRecorded.load(ordering: .relaxed)
            #expect(isDone)
        }
    }
}
