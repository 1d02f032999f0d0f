import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations

extension OperationFault {
    /// What a server's problem document says, as the command says it where it meets the same itself.
    init(answered body: [UInt8], status: Int) {
        // What is no problem document says nothing by itself.
        guard let problem = try? ProblemAnswer.fields.read(JSONValue(parsing: body)) else {
            self.init(
                Code("unexpected_answer", .failed),
                "the server answered \(status), and no problem document",
                hint: "is it a server of this program?"
            )
            return
        }
        if let faults = problem.faults {
            self.init(
                .invalidCatalog,
                faults.map { "\($0.path): \($0.detail) [\($0.code)]" }.joined(
                    separator: "\n       "
                ),
                hint: "`entitle catalog validate FILE` lists the faults"
            )
            return
        }
        if let code = LedgerFault.Code(rawValue: problem.code),
            code == .unknownCustomer || code == .emptyRange
        {
            self.init(
                telling: LedgerFault(code, problem.detail ?? problem.title),
                ofLedgerAt: nil
            )
            return
        }
        let word = problem.code == ProblemCode.keyReused.rawValue ? "conflict" : problem.code
        if let code = Refusal.Code(rawValue: word) {
            self.init(
                Refusal(
                    code,
                    problem.path ?? "",
                    problem.detail ?? problem.title,
                    resetsAt: problem.resetsAt
                )
            )
            return
        }
        let exit: ExitStatus =
            switch status {
            case _ where problem.code == ProblemCode.notConfigured.rawValue: .misconfigured
            case 400, 413, 415, 422, 431: .badInput
            case 401, 403: .notPermitted
            case 404, 409, 412: .conflict
            case 429, 503: .tryAgain
            case 507: .io
            default: .failed
            }
        self.init(
            Code(problem.code, exit),
            problem.detail ?? problem.title,
            place: problem.path
        )
    }
}
