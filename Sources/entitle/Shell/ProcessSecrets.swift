// Unsafe: names of variables are lent to unsetenv(3) for the call.

import CLinux
import Encodings
import Glibc

/// Keeps the master key, and the names that a ledger opens, in this process.
enum ProcessSecrets {
    /// The variables that hold the master key or say how it is had.
    private static let variables = ["ENTITLE_KEY", "ENTITLE_KEY_COMMAND"]

    /// From here on the memory goes into no core file, nor to another process of this user.
    ///
    /// Processes that this one starts write no core file either.
    static func closeMemory() {
        guard linux_close_memory() == 0 else {
            Terminal.note("warning: the system may write the memory of this process to a file")
            return
        }
    }

    /// Takes the variables away, once they are read: no process that this one starts has them.
    static func forgetVariables() {
        for name in variables { unsafe _ = unsetenv(name) }
    }
}
