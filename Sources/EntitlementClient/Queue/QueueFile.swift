import Encodings
import Entitlements
import LedgerAPI

/// The queue as a file: a line for each change, under a digest of its own.
///
/// A line that is torn, by a kill or a full disk, or damaged is passed over: what stood in it was
/// never acknowledged, or the store hands it in again, since it was never finished.
struct QueueFile: Sendable {
    /// In the order in which they were added.
    private(set) var calls: [QueuedCall] = []
    /// Lines that say nothing any more, or cannot be read: a reason to write the file anew.
    ///
    /// Large ones count as several.
    private(set) var spentLines = 0
    /// Whether the end is torn, so that nothing may be added to it.
    private(set) var isTorn = false
    /// Whether a whole line does not hold.
    private(set) var isDamaged = false

    init() {}

    /// Reads a file; whatever it holds, it is a queue.
    init(_ bytes: [UInt8]) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        isTorn = lines.popLast()?.isEmpty == false
        for line in lines {
            if let json = DigestedLine.json(line), apply(json) { continue }
            isDamaged = true
            spentLines += 1
        }
    }

    /// The whole queue as a file.
    static func bytes(_ calls: [QueuedCall]) -> [UInt8] {
        calls.flatMap { DigestedLine.bytes($0.added) + DigestedLine.bytes($0.state) }
    }

    /// Returns whether the change was understood.
    private mutating func apply(_ json: JSONValue) -> Bool {
        guard let id = json["id"]?.string else { return false }
        let place = calls.firstIndex { $0.id.isSame(as: id) }
        switch json["op"]?.string {
        case "add":
            guard place == nil, let call = QueuedCall(added: json, id: id) else { return false }
            calls.append(call)
        case "state":
            spentLines += 1
            // Another program of the app's took it away before this one noted how far it was.
            guard let place else { return true }
            return calls[place].apply(state: json)
        case "remove":
            let gone = place.map { calls.remove(at: $0) }
            spentLines += gone?.spentLines ?? 2
        default: return false
        }
        return true
    }
}

/// Changes as JSON.
extension QueuedCall {
    /// That it was added.
    var added: JSONValue {
        var members = [
            JSONMember("op", "add"), JSONMember("id", .string(id)),
            JSONMember("customer", .optional(customer?.text)),
            JSONMember("verifiedAt", .instant(verifiedAt)),
        ]
        switch task {
        case .claim(let transaction):
            members.append(JSONMember("claim", transaction.json))
        case .restore(let transactions):
            members.append(JSONMember("restore", .array(transactions.map(\.json))))
        case .flow(let body, let id):
            members += [JSONMember("flow", body), JSONMember("flowId", .string(id))]
        case .use(let use): members.append(JSONMember("use", use.json))
        }
        return .object(members)
    }

    /// How far it is.
    var state: JSONValue {
        .members([
            "op": "state", "id": .string(id),
            // In a word that earlier versions read: they tell the flow's end once somebody tries again.
            "phase": .string((phase == .prepared ? Phase.attention : phase).rawValue),
            "prepared": .bool(phase == .prepared),
            "attempts": .integer(attempts), "notBefore": .instant(notBefore),
            "verifiedAt": .instant(verifiedAt),
            "size": size.map { .integer($0) } ?? .null, "finished": .bool(isFinished),
            "refusal": refusal.map {
                .object(
                    ServiceErrorAnswer.fields.members(of: ServiceErrorAnswer($0, in: .english))
                )
            } ?? .null,
            "refused": .strings(refusedItems.texts), "endsAt": .instant(endsAt),
        ])
    }

    /// Lines that say nothing any more once it is gone.
    ///
    /// Each 4 KiB count as one more: few that are large would fill the file, too.
    var spentLines: Int { 2 + (added.description.utf8.count >> 12) }

    /// That it is gone.
    var removed: JSONValue { .members(["op": "remove", "id": .string(id)]) }

    fileprivate init?(added json: JSONValue, id: String) {
        guard let verifiedAt = Self.instant(json["verifiedAt"]) else { return nil }
        let customer = json["customer"]?.string.flatMap { CustomerID($0) }
        let task: Task
        if let claim = json["claim"] {
            guard let transaction = StoreTransaction(json: claim) else { return nil }
            task = .claim(transaction)
        } else if let items = json["restore"]?.array {
            let transactions = items.compactMap { StoreTransaction(json: $0) }
            guard transactions.count == items.count else { return nil }
            task = .restore(transactions)
        } else if let body = json["flow"], let flow = json["flowId"]?.string {
            task = .flow(body, id: flow)
        } else if let use = json["use"].flatMap({ Use(json: $0) }) {
            task = .use(use)
        } else {
            return nil
        }
        self.init(id: id, task, of: customer, verifiedAt: verifiedAt)
    }

    fileprivate mutating func apply(state json: JSONValue) -> Bool {
        guard let phase = json["phase"]?.string.flatMap(Phase.init(rawValue:)),
            let attempts = json["attempts"]?.integer, attempts >= 0,
            let verifiedAt = Self.instant(json["verifiedAt"]),
            let isFinished = json["finished"]?.bool
        else { return false }
        self.phase = json["prepared"]?.bool == true ? .prepared : phase
        // It is counted on from there, whatever a file says.
        self.attempts = min(attempts, Self.attemptLimit)
        self.verifiedAt = verifiedAt
        self.isFinished = isFinished
        notBefore = Self.instant(json["notBefore"])
        // A refusal in other words is one all the same.
        refusal = json["refusal"].flatMap { try? ServiceErrorAnswer.fields.read($0) }
            .map { ServiceError($0) }
        refusedItems = Set(texts: (json["refused"]?.array ?? []).compactMap(\.string))
        endsAt = Self.instant(json["endsAt"])
        size = json["size"]?.integer.flatMap(UInt64.init(exactly:))
        return true
    }

    /// Tries that a file may tell of: far more than any call is tried by itself.
    private static let attemptLimit: Int64 = 1 << 32

    private static func instant(_ json: JSONValue?) -> Instant? {
        json?.string.flatMap { Instant(rfc3339: $0) }
    }
}
