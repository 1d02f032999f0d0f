extension OperationFault {
    /// A kind of fault: a word of a closed set, and how a command ends that meets it.
    public struct Code: Hashable, Sendable {
        /// The word, for programs.
        public let rawValue: String
        /// How a command ends.
        package let status: ExitStatus

        package init(_ rawValue: String, _ status: ExitStatus) {
            self.rawValue = rawValue
            self.status = status
        }

        /// What was asked for cannot be done so.
        public static let usage = Code("usage", .usage)
        /// A directory holds something already.
        public static let notEmpty = Code("not_empty", .cannotCreate)
        /// There is no such file, or it is none that can be read.
        public static let noInput = Code("no_input", .noInput)
        /// A file that is read for its text cannot be.
        public static let noFile = Code("no_file", .noInput)
        /// A file is longer than what it is read for can be.
        public static let tooLarge = Code("too_large", .badInput)
        /// A file is not UTF-8.
        public static let notText = Code("not_text", .badInput)
        /// There is nothing to restore from.
        public static let noSource = Code("no_source", .noInput)
        /// There is no copy of the vault.
        public static let noVault = Code("no_vault", .noInput)
        /// What is damaged cannot be mended without a loss.
        public static let damaged = Code("damaged", .integrity)
        /// What was published is not what the log extends.
        public static let forked = Code("forked", .integrity)
        /// Nothing was signed yet.
        public static let noCheckpoint = Code("no_checkpoint", .tryAgain)
        /// A file may not be read.
        public static let notPermitted = Code("not_permitted", .notPermitted)
        /// What is read gives an error of the system.
        public static let io = Code("io", .io)
        /// A file of settings is not believed, or not in order.
        public static let configuration = Code("configuration", .misconfigured)
        /// The master key cannot be read.
        public static let noKey = Code("no_key", .misconfigured)
        /// What was read is no master key.
        public static let badKey = Code("bad_key", .misconfigured)
        /// A file or directory cannot be made.
        public static let cannotCreate = Code("cannot_create", .cannotCreate)
        /// A file takes nothing more.
        public static let output = Code("output", .io)

        // Of commands alone.

        package static let refill = Code("refill", .tryAgain)
        package static let alone = Code("alone", .tryAgain)
        package static let malformed = Code("malformed", .badInput)
        package static let invalidCatalog = Code("invalid_catalog", .badInput)
        package static let invalidQuestion = Code("invalid_question", .badInput)
        package static let invalidToken = Code("invalid_token", .badInput)
        package static let invalidValue = Code("invalid_value", .badInput)
        package static let noCatalog = Code("no_catalog", .no)
        package static let unknownFeature = Code("unknown_feature", .usage)
        package static let unknownTier = Code("unknown_tier", .usage)
        package static let drift = Code("drift", .integrity)
        package static let notProven = Code("not_proven", .integrity)
        package static let tooManyKeys = Code("over_limit", .conflict)
        package static let noSuchKey = Code("not_found", .conflict)
        package static let noSuchWebhook = Code("not_found", .conflict)
        package static let tooManyWebhooks = Code("over_limit", .conflict)
        package static let badKeys = Code("bad_keys", .misconfigured)
        package static let notConfigured = Code("not_configured", .misconfigured)
        package static let unreachable = Code("unreachable", .unreachable)
        package static let cannotListen = Code("cannot_listen", .io)
        package static let fullDisk = Code("storage_full", .io)
        package static let wrongAnswer = Code("wrong_answer", .internal)
        package static let interrupted = Code("interrupted", .interrupted)
    }
}
