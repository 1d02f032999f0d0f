// Unsafe: texts and pointers to them, which live until the process is started (posix_spawn(3)).

import CLinux
import Glibc

/// A program in a process of its own.
///
/// Foundation's `Process` reads behind the end of a buffer where some 1350 files are open, connections among
/// them, and may end the program that starts another (github.com/swiftlang/swift-corelibs-foundation/pull/5472).
package struct SpawnedProcess: Sendable {
    /// Its number.
    package let number: Int32

    /// How it ended.
    package enum End: Sendable, Hashable {
        /// With an exit code.
        case exited(Int32)
        /// By a signal.
        case signalled(Int32)
    }

    /// Why it was not started: an error number of the system.
    package struct Fault: Error {
        /// The number (errno(3)).
        package let number: Int32
    }

    /// Starts a program; nothing of ours is open in it but what it gets.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - arguments: Its arguments, without its name.
    ///   - environment: `NAME=VALUE` each.
    ///   - folder: In which it runs; nil: in ours.
    ///   - descriptors: Its standard input, output and error; nil: nothing comes or goes.
    /// - Throws: why it was not started.
    package init(
        _ path: String,
        _ arguments: [String],
        environment: [String],
        folder: String? = nil,
        descriptors: [Int32?]
    ) throws(Fault) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (place, descriptor) in descriptors.enumerated() {
            let place = Int32(place)
            if let descriptor {
                _ = unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, place)
            } else {
                _ = unsafe posix_spawn_file_actions_addopen(
                    &actions,
                    place,
                    "/dev/null",
                    O_RDWR,
                    0
                )
            }
        }
        if let folder { _ = unsafe posix_spawn_file_actions_addchdir_np(&actions, folder) }
        _ = unsafe posix_spawn_file_actions_addclosefrom_np(&actions, Int32(descriptors.count))
        var started: pid_t = 0
        let fault = unsafe Self.withTexts([path] + arguments) { words in
            unsafe Self.withTexts(environment) { variables in
                unsafe posix_spawn(&started, path, &actions, nil, words, variables)
            }
        }
        guard fault == 0 else { throw Fault(number: fault) }
        number = started
    }

    /// Waits for its end; to be asked for once.
    ///
    /// - Throws: `Fault` where somebody else has waited for it.
    package func end() throws(Fault) -> End {
        while true {
            if let end = try end(options: 0) { return end }
        }
    }

    /// How it ended, if it has; to be asked for until it has.
    ///
    /// - Throws: `Fault` where somebody else has waited for it.
    package func endIfAny() throws(Fault) -> End? { try end(options: WNOHANG) }

    private func end(options: Int32) throws(Fault) -> End? {
        var status: Int32 = 0
        let found = unsafe waitpid(number, &status, options)
        if found < 0, errno != EINTR { throw Fault(number: errno) }
        guard found == number else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }

    /// Lends texts as C has them, behind the last of which there is a null.
    private static func withTexts<Result>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = unsafe texts.map { unsafe strdup($0) }
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe body(pointers + [nil])
    }
}
