/// Why something cannot be done to a ledger's files: what, where, and what to do.
///
/// What the layers below throw passes through as it is.
public struct OperationFault: Error, Sendable, Equatable {
    /// What kind.
    public var code: Code
    /// A sentence; holds no id of a person.
    public var message: String
    /// Where: a path, a line, an option of the command.
    public var place: String?
    /// What to do, in terms of the command.
    public var hint: String?

    /// The closed set of kinds.
    public enum Code: String, Sendable {
        /// What was asked for cannot be done so.
        case usage
        /// A directory holds something already.
        case notEmpty = "not_empty"
        /// There is no such file, or it is none that can be read.
        case noInput = "no_input"
        /// A file that is read for its text cannot be.
        case noFile = "no_file"
        /// A file is longer than what it is read for can be.
        case tooLarge = "too_large"
        /// A file is not UTF-8.
        case notText = "not_text"
        /// There is nothing to restore from.
        case noSource = "no_source"
        /// There is no copy of the vault.
        case noVault = "no_vault"
        /// What is damaged cannot be mended without a loss.
        case damaged
        /// What was published is not what the log extends.
        case forked
        /// Nothing was signed yet.
        case noCheckpoint = "no_checkpoint"
        /// A file may not be read.
        case notPermitted = "not_permitted"
        /// What is read gives an error of the system.
        case io
        /// A file of settings is not believed, or not in order.
        case configuration
        /// The master key cannot be read.
        case noKey = "no_key"
        /// What was read is no master key.
        case badKey = "bad_key"
        /// A file or directory cannot be made.
        case cannotCreate = "cannot_create"
        /// A file takes nothing more.
        case output
    }

    init(_ code: Code, _ message: String, place: String? = nil, hint: String? = nil) {
        self.code = code
        self.message = message
        self.place = place
        self.hint = hint
    }
}
