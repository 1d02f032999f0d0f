import Crypto
import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What the ledger knows a request by; Hummingbird has a `Request` of its own.
typealias LedgerRequest = EntitlementLedger.Request

extension Call {
    /// Bytes of an idempotency key.
    static let keyByteLimit = 255

    /// The request that the ledger is asked: named by the `Idempotency-Key`, or by a new id.
    ///
    /// A key of a customer's own token is bound to that customer: nobody learns from a conflict
    /// what others used, or takes their names.
    func request(
        _ service: LedgerService,
        source: String,
        environment: StoreEnvironment? = nil
    ) throws(Problem) -> LedgerRequest {
        var id = try idempotencyKey() ?? service.makeID()
        if case .customer(let customer) = caller {
            let digest = SHA256.hash(data: Array(customer.text.utf8)).prefix(8)
            id += "@" + Hexadecimal.encode(digest)
        }
        let chosen: StoreEnvironment
        if let environment { chosen = environment } else { chosen = try self.environment() }
        return LedgerRequest(id: id, source: source, environment: chosen)
    }

    /// The header is a structured-field string, which is ASCII (RFC 8941, section 3.3.3); bare
    /// tokens are sent too, and taken.
    ///
    /// Other bytes may have been replaced on their way here: two names would become one.
    private func idempotencyKey() throws(Problem) -> String? {
        guard var key = headers[.idempotencyKey] else { return nil }
        if key.count >= 2, key.hasPrefix("\""), key.hasSuffix("\"") {
            key = String(key.dropFirst().dropLast())
        }
        guard (1...Self.keyByteLimit).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw Problem(
                .invalidValue,
                "expected 1 to \(Self.keyByteLimit) printable characters of ASCII",
                path: "Idempotency-Key"
            )
        }
        return key
    }

    /// The body as the fields of an event of a kind (Model, "Events").
    ///
    /// `default`: a member that the body need not have.
    func data(
        _ kind: EventKind,
        default member: JSONMember? = nil
    ) throws(Problem) -> EventData {
        var json = try json()
        if case .object(let members) = json, let member, json[member.name] == nil {
            json = .object(members + [member])
        }
        return try data(kind, json)
    }

    /// A JSON value as the fields of an event about a customer.
    func data(_ kind: EventKind, _ json: JSONValue) throws(Problem) -> EventData {
        guard case .object = json else { throw Problem(.malformed, "expected a JSON object") }
        guard ObjectReader(json).value("observedAt") == nil else {
            throw Problem(.unknownField, "the ledger itself observes it", path: "observedAt")
        }
        do throws(InputFault) {
            return try EventData(kind, validating: json, of: .customer)
        } catch {
            throw Problem(error)
        }
    }

    /// Whole seconds from now to an instant, rounded up: what `Retry-After` says.
    func seconds(until instant: Instant) -> Int {
        let milliseconds = instant.milliseconds - now.milliseconds
        return Int((milliseconds + 999) / 1000)
    }

    /// A refusal's problem: a conflict that the caller's own key led to is that key's (E1).
    func problem(of refusal: Refusal) -> Problem {
        var problem = Problem(refusal)
        if refusal.code == .conflict, headers[.idempotencyKey] != nil { problem.code = .keyReused }
        if let resetsAt = refusal.resetsAt {
            problem.resetsAt = resetsAt
            problem.retryAfter = seconds(until: resetsAt)
        }
        return problem
    }
}

extension Problem {
    /// A field that does not fit the tables.
    init(_ fault: InputFault) {
        let path = fault.path.hasPrefix("data.") ? String(fault.path.dropFirst(5)) : fault.path
        self.init(
            ProblemCode(rawValue: fault.code.rawValue) ?? .invalidValue,
            fault.detail,
            path: path
        )
    }
}
