import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Presentation
import Stores

/// What a form asks for, read and checked.
struct FormRequest: Sendable {
    let form: CustomerForm
    let customer: CustomerID
    let request: LedgerRequest
    let reason: String
    /// Customers whom it concerns, and whose access is noted with the reason.
    let concerned: [CustomerID]
    /// What came of a decision, and whose the purchase was that it took from somebody.
    typealias Decided = (receipt: Receipt, formerOwner: CustomerID?)
    /// Asks a ledger; nil: it is no decision that a draft could make.
    let decide: (@Sendable (Ledger) throws -> Decided)?

    init(_ form: CustomerForm, _ call: Call, _ sent: Query) throws(Problem) {
        self.form = form
        customer = try call.customer
        let id = sent[CustomerFormPage.requestName] ?? ""
        guard (1...Call.keyByteLimit).contains(id.utf8.count),
            id.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw Problem(.missingField, "load the form again", path: "request") }
        request = LedgerRequest(
            id: id,
            source: Source.support,
            environment: try call.environment()
        )
        reason = try RouteTable.reason(sent[FormField.Name.reason.rawValue] ?? "")
        let fields = FormFields(sent: sent)
        switch form {
        case .transfer: concerned = [customer, try fields.customer(.to)]
        // Noting it would give the customer a name anew.
        case .erase: concerned = []
        default: concerned = [customer]
        }
        decide = try Self.decision(form, fields, call, (customer, request, reason))
    }

    private static func decision(
        _ form: CustomerForm,
        _ fields: FormFields,
        _ call: Call,
        _ asked: (customer: CustomerID, request: LedgerRequest, reason: String)
    ) throws(Problem) -> (@Sendable (Ledger) throws -> Decided)? {
        let (customer, request, reason) = asked
        switch form {
        case .grant:
            let data = try grant(fields.sent, call, grantID: request.id, reason)
            return { ledger in
                let receipt = try ledger.appender.grant(
                    data.text(.grantID) ?? "",
                    to: customer,
                    features: data.texts(.features) ?? [],
                    tier: data.text(.tier),
                    expiresAt: data.instant(.expiresAt),
                    reason: data.text(.reason),
                    request
                )
                return (receipt, nil)
            }
        case .withdraw:
            let grantID = try fields.text(.grantID)
            return { (try $0.appender.withdraw(grantID, from: customer, request), nil) }
        case .link:
            let alias = try fields.customer(.alias)
            return { (try $0.appender.link(alias, to: customer, request), nil) }
        case .transfer:
            let (purchase, owner) = (try fields.purchase(), try fields.customer(.to))
            return {
                decided(try $0.appender.transfer(purchase, to: owner, reason: reason, request))
            }
        case .release:
            let purchase = try fields.purchase()
            return { decided(try $0.appender.release(purchase, reason: reason, request)) }
        case .erase:
            guard try fields.text(.typed).isSame(as: customer.text) else {
                throw Problem(
                    .invalidValue,
                    "what was typed is not the customer's id",
                    path: "typed"
                )
            }
            return nil
        case .sync, .verify: return nil
        }
    }

    private static func decided(_ outcome: OwnerOutcome) -> Decided {
        (outcome.receipt, outcome.formerOwner)
    }

    /// A grant as its event says it, checked as the interface checks it.
    private static func grant(
        _ sent: Query,
        _ call: Call,
        grantID: String,
        _ reason: String
    ) throws(Problem) -> EventData {
        var members = [
            JSONMember("grantId", .string(grantID)), JSONMember("reason", .string(reason)),
        ]
        let features = (sent[FormField.Name.features.rawValue] ?? "").split(separator: ",")
            .map { String($0.trimmedBlanks) }.filter { !$0.isEmpty }
        if !features.isEmpty { members.append(JSONMember("features", .strings(features))) }
        if let tier = sent[FormField.Name.tier.rawValue], !tier.isEmpty {
            members.append(JSONMember("tier", .string(tier)))
        }
        if let text = sent[FormField.Name.expiresAt.rawValue], !text.isEmpty {
            let end = try call.formInstant(text, FormField.Name.expiresAt.rawValue)
            members.append(JSONMember("expiresAt", .instant(end)))
        }
        guard members.count > 2 else {
            throw Problem(.missingField, "a grant gives features or a tier", path: "features")
        }
        return try call.data(.grantGiven, .object(members))
    }

    /// Whom it concerned, and what is left to say where not all of it could be done; nil: nothing.
    typealias Outcome = (concerned: [CustomerID], problem: Problem?)

    /// Has it recorded.
    ///
    /// A purchase may be another customer's by now than the one's on whose page the form stood.
    func run(_ call: Call, _ service: LedgerService) async throws -> Outcome {
        if let decide {
            let decided = try await service.blocking { try decide(service.ledger) }
            _ = try SignalReceipt(decided.receipt) { call.problem(of: $0) }
            guard let owner = decided.formerOwner, !concerned.contains(owner) else {
                return (concerned, nil)
            }
            return (concerned + [owner], nil)
        }
        switch form {
        case .sync:
            let answer = try await RouteTable.sync(customer, in: request.environment, service)
            return (concerned, answer.problem)
        case .verify:
            let answer = try await RouteTable.verification(
                of: customer,
                in: request.environment,
                isRecording: true,
                service
            )
            return (concerned, answer.problem)
        case .erase:
            // In every environment, as the interface asks for it.
            let everywhere = LedgerRequest(
                id: request.id,
                source: request.source,
                environment: .production
            )
            _ = try await RouteTable.erasure(of: [customer], everywhere, call, service)
        case .grant, .withdraw, .link, .transfer, .release: break
        }
        return (concerned, nil)
    }
}

extension SyncAnswer {
    /// What is left to say of it; nil: each store that can be asked told all that it knows.
    fileprivate var problem: Problem? {
        isToAskAgain
            ? Problem(
                .storeUnavailable,
                "a store did not tell all: what it told is recorded"
            )
            : nil
    }
}

extension VerificationAnswer {
    /// What is left to say of it; nil: nothing failed, and something could be judged if there was anything.
    fileprivate var problem: Problem? {
        if !isOK {
            let code = evidence.first { $0.outcome == .failed }?.code
            return Problem(
                code.flatMap { ProblemCode(rawValue: $0) } ?? .badSignature,
                "what the store signed no longer verifies: that is recorded"
            )
        }
        guard counts.unchecked > 0, counts.verified == 0 else { return nil }
        return Problem(.notConfigured, "nobody is configured to judge what is recorded")
    }
}

/// What a form sent, field by field.
private struct FormFields {
    let sent: Query

    /// A field that must be filled in.
    func text(_ name: FormField.Name) throws(Problem) -> String {
        guard let text = sent[name.rawValue], !text.isEmpty else {
            throw Problem(.missingField, "required", path: name.rawValue)
        }
        return text
    }

    /// A field that names a customer.
    func customer(_ name: FormField.Name) throws(Problem) -> CustomerID {
        guard let id = CustomerID(try text(name)) else {
            throw Problem(.invalidValue, "expected an id", path: name.rawValue)
        }
        return id
    }

    /// The field that names a purchase.
    func purchase() throws(Problem) -> PurchaseName {
        guard let name = PurchaseName(try text(.purchase)) else {
            throw Problem(.unknownPurchase, "a purchase is STORE/ORIGINAL_ID")
        }
        return name
    }
}

extension Substring {
    /// Without blanks at its ends.
    fileprivate var trimmedBlanks: Substring {
        let start = drop { $0 == " " }
        guard let end = start.lastIndex(where: { $0 != " " }) else { return "" }
        return start[...end]
    }
}
