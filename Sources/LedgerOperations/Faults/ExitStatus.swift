/// How a command ends, as its shell is told (Interfaces, "The command").
package enum ExitStatus: Int32, Sendable {
    /// A well-formed no.
    case no = 1
    /// It was not done.
    case failed = 2
    /// What stands is not what was recorded.
    case integrity = 3
    /// Something else stands where this would go, or does not stand that it needs.
    case conflict = 4
    /// The command was not asked as it can be.
    case usage = 64
    /// What it reads is not of its form.
    case badInput = 65
    /// There is nothing to read.
    case noInput = 66
    /// Nobody answers there.
    case unreachable = 69
    /// A fault of the program.
    case `internal` = 70
    /// A file or directory cannot be made.
    case cannotCreate = 73
    /// The system does not read or write.
    case io = 74
    /// The same command may do it later.
    case tryAgain = 75
    /// It may not be done.
    case notPermitted = 77
    /// What it is configured with is not in order.
    case misconfigured = 78
    /// Somebody ended it.
    case interrupted = 130
}
