import Foundation
import LedgerOperations
import Synchronization

/// A command in a process of its own, whose standard input and output are files.
struct SpawnedCommand {
    var path: String
    var arguments: [String]
    var environment: [String: String]
    /// In which it runs.
    var folder: String
    /// Standard input, output and error.
    var files: [String]

    /// Runs to the end; returns the exit code, or the signal's number negated.
    func run() async throws -> Int32 {
        let handles =
            [try FileHandle(forReadingFrom: URL(filePath: files[0]))]
            + (try files[1...].map { try FileHandle(forWritingTo: URL(filePath: $0)) })
        let process = try Forking.lock.withLock { _ in
            try SpawnedProcess(
                path,
                arguments,
                environment: environment.map { "\($0.key)=\($0.value)" },
                folder: folder,
                descriptors: handles.map(\.fileDescriptor)
            )
        }
        for handle in handles { try handle.close() }
        while true {
            switch try process.endIfAny() {
            case .exited(let code)?: return code
            case .signalled(let signal)?: return -signal
            case nil: try await Task.sleep(for: .milliseconds(2))
            }
        }
    }
}

/// Between fork and exec a child holds what its parent has open, a writer's lock too: no ledger is
/// closed in that moment.
enum Forking {
    static let lock = Mutex(())
}
