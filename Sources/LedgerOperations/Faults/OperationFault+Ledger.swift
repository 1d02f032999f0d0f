package import EntitlementLedger
package import Entitlements
package import EventLog

/// What a ledger refuses, as a command tells it.
extension OperationFault {
    init(_ fault: LedgerFault) {
        switch fault.code {
        case .clockBehind, .clockAhead, .contended:
            self.init(Code(fault.code.rawValue, .tryAgain), fault.message, hint: fault.remedy)
        case .readOnly: self.init(Code("read_only", .notPermitted), fault.message)
        case .unknownSequence: self.init(Code(fault.code.rawValue, .badInput), fault.message)
        case .unknownCustomer:
            self.init(
                Code(fault.code.rawValue, .noInput),
                fault.message,
                hint: "ids are compared byte by byte; --environment says which is meant"
            )
        case .emptyRange: self.init(Code(fault.code.rawValue, .noInput), fault.message)
        case .otherExport: self.init(Code(fault.code.rawValue, .conflict), fault.message)
        case .shortened:
            self.init(
                Code(fault.code.rawValue, .integrity),
                fault.message,
                hint: "events go on being recorded; whoever holds that checkpoint can show the gap"
            )
        }
    }

    /// A commit of which nobody knows whether it stands.
    ///
    /// `id`: the request's, by which it is asked again.
    package init(inDoubt fault: LogStorageFault, id: String, ofLedgerAt place: String) {
        self.init(telling: fault, ofLedgerAt: place)
        hint = Self.repeating(id)
    }

    /// How a request is asked again whose outcome nobody knows (E1).
    package static func repeating(_ id: String) -> String {
        "whatever became of it, the same with --id \(id) is recorded once"
    }

    /// An erasure that the log says, and what hinders its end.
    ///
    /// `id`: the request's, by which its receipt is had.
    package init(unfinishedErasure error: any Error, id: String, ofLedgerAt place: String) {
        self.init(telling: error, ofLedgerAt: place)
        message = "the erasure is recorded, and not finished: " + message
        hint =
            "once that is mended, the next command that writes finishes it; "
            + "the same command with --id \(id) prints the receipt"
    }

    /// Gives a refusal its exit status.
    package init(_ refusal: Refusal) {
        let status: ExitStatus =
            switch refusal.code {
            case .overLimit, .notAllowed: .no
            case .unknownFeature: .usage
            case .invalidCatalog, .notPermitted, .tooLarge, .recordedTime, .invalidValue,
                .outOfRange:
                .badInput
            default: .conflict
            }
        self.init(
            Code(refusal.code.rawValue, status),
            refusal.detail,
            place: refusal.path.isEmpty ? nil : refusal.path,
            hint: refusal.code == .unknownFeature
                ? Self.gatesHint : refusal.resetsAt.map { "there are uses again at \($0)" }
        )
        resetsAt = refusal.resetsAt
    }

    package init(_ refusal: TokenRefusal) {
        let (status, hint): (ExitStatus, String?) =
            switch refusal.code {
            case .differs: (.integrity, "run `entitle audit`: the log and its views are checked")
            case .customerMissing: (.usage, "entitle show CUSTOMER --token TOKEN")
            case .unknownSequence, .otherLedger, .otherHistory:
                (.failed, "ask the ledger that gave the token")
            case .otherCustomer, .erased: (.failed, nil)
            }
        self.init(
            Code(refusal.code.rawValue, status),
            refusal.message,
            place: "--token",
            hint: hint
        )
    }

    /// A feature that no catalog lists, with the names that may be meant.
    package init(unknownFeature feature: String, among listed: some Sequence<String>) {
        self.init(unknownFeatureNear: NearNames.near(feature, among: listed))
    }

    package init(unknownFeatureNear near: [String]) {
        self.init(
            .unknownFeature,
            "no catalog lists this feature",
            place: "FEATURE",
            hint: near.isEmpty
                ? Self.gatesHint
                : "did you mean " + near.joined(separator: " or ") + "?"
        )
    }

    /// The fault as a command says it of its argument FEATURE, where a server says that no catalog lists it.
    package var ofFeatureArgument: OperationFault {
        guard code == .unknownFeature else { return self }
        let near = message.split(separator: "; near it: ").dropFirst().first
        return OperationFault(
            unknownFeatureNear: near?.split(separator: ", ").map { String($0) } ?? []
        )
    }

    private static let gatesHint = "`entitle catalog gates` lists them"

    /// Every fault of a catalog, a line each.
    package init(catalog faults: [InputFault]) {
        self.init(
            .invalidCatalog,
            faults.map { "\($0.path): \($0.detail) [\($0.code.rawValue)]" }
                .joined(separator: "\n       "),
            hint: "`entitle catalog validate FILE` lists the faults"
        )
    }
}
