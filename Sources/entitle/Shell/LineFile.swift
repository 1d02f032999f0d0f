import Entitlements
import Foundation
import Synchronization

/// A new file that several threads write JSON lines to, a buffer at a time.
final class LineFile: Sendable {
    private let state: Mutex<State>
    private let path: String

    private struct State {
        let handle: FileHandle
        var waiting = ""
    }

    /// Bytes that wait for the disk.
    private static let bufferByteCount = 1 << 18

    /// Makes the file; one that is there is written over.
    init(_ path: String) throws {
        self.path = path
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else {
            throw CommandFailure(
                .cannotCreate,
                "cannot_create",
                "the file cannot be made",
                place: path
            )
        }
        state = Mutex(State(handle: handle))
    }

    func write(_ json: JSONValue) throws {
        let line = json.description + "\n"
        try state.withLock { state in
            state.waiting += line
            if state.waiting.utf8.count >= Self.bufferByteCount { try flush(&state) }
        }
    }

    func close() throws {
        try state.withLock { state in
            try flush(&state)
            try state.handle.close()
        }
    }

    private func flush(_ state: inout State) throws {
        do {
            try state.handle.write(contentsOf: Data(state.waiting.utf8))
        } catch {
            throw CommandFailure(.io, "output", "the file cannot be written", place: path)
        }
        state.waiting = ""
    }
}
