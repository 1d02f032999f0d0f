import Crypto
import Encodings
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

/// What the fold answers over a history in memory: names become numbers, then the same code as in
/// the ledger.
func fastShow(
    log: [RecordedEvent],
    customer: String,
    environment: StoreEnvironment,
    at: Instant
) -> JSONValue? {
    var interned = InternedHistory(log: log, environment: environment)
    let number = interned.number("customer/" + customer)
    let canonical = Links(interned.facts, of: .customerLinked).canonical(number)
    let name = String(interned.names[Int(canonical)].dropFirst("customer/".count))
    let timeline = CustomerTimeline(
        of: number,
        facts: interned.facts,
        names: interned.texts.names,
        catalogs: interned.catalogs,
        position: { experiment in
            SHA256.hash(data: Array(experiment.utf8) + [0] + Array(name.utf8))
                .prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
    )
    var state = timeline.state(at: at)
    // The fold passes over events that decide nothing: the ledger counts them.
    if !SlowModel(log: log).hasSeen(customer, environment) { state.warnings.append(.neverSeen) }
    guard let content = try? StateContent(state, names: interned) else { return nil }
    return .object(
        [
            JSONMember("customer", .string(customer)),
            JSONMember("environment", .string(environment.name)),
            JSONMember("at", .instant(at)),
        ] + (AnswerText(content).json.members ?? [])
    )
}

/// The facts of one environment with names as numbers.
struct InternedHistory: AnswerNames {
    var names: [String] = []
    private var numbers: [String: UInt64] = [:]
    private(set) var facts: [Fact] = []
    private(set) var texts = FactNameTable()
    private(set) var catalogs = CatalogHistory([])
    private var grantIDs: [UInt64: String] = [:]

    init(log: [RecordedEvent], environment: StoreEnvironment) {
        var publications: [CatalogHistory.Publication] = []
        for recorded in log {
            let event = recorded.event
            if let document = event.data.document {
                guard let catalog = catalog(document) else { continue }
                publications.append(
                    CatalogHistory.Publication(
                        time: event.time,
                        sequence: recorded.sequence,
                        catalog: catalog
                    )
                )
            } else if event.environment == environment {
                facts += facts(of: recorded)
                grantIDs[recorded.sequence] = event.data.text(.grantID)
            }
        }
        catalogs = CatalogHistory(publications)
    }

    private func catalog(_ document: JSONValue) -> Catalog? {
        do {
            return try Catalog(document: document)
        } catch {
            Issue.record("a catalog of the history is refused: \(error.all)")
            return nil
        }
    }

    mutating func number(_ name: String) -> UInt64 {
        if let known = numbers[name] { return known }
        names.append(name)
        numbers[name] = UInt64(names.count - 1)
        return UInt64(names.count - 1)
    }

    private mutating func facts(of recorded: RecordedEvent) -> [Fact] {
        let (event, data) = (recorded.event, recorded.event.data)
        var fact = Fact(
            sequence: recorded.sequence,
            kind: event.kind,
            time: event.time,
            observedAt: event.observedAt,
            subject: number(event.subject.description)
        )
        if case .purchase(let name) = event.subject { fact.store = texts.name(name.store) }
        if let purchase = data.text(.purchase) { fact.other = number("purchase/" + purchase) }
        if let alias = data.text(.alias) {
            fact.other = number(event.subject.kind.rawValue + "/" + alias)
        }
        if let account = data.text(.account) { fact.other = number("customer/" + account) }
        fact.transaction = data.text(.transactionID).map { number("transaction/" + $0) }
        fact.item = (data.text(.grantID) ?? data.text(.useID)).map { number("item/" + $0) }
        fact.end = data.instant(.expiresAt) ?? data.instant(.graceUntil)
        fact.label = (data.text(.productID) ?? data.text(.trialID) ?? data.text(.featureID))
            .map { texts.name($0) }
        fact.nextProductID = data.text(.nextProductID).map { texts.name($0) }
        fact.productKind = data.text(.productKind).flatMap(ProductKind.init(name:))
        fact.autoRenew = data.flag(.autoRenew)
        fact.isLate = recorded.isLate
        fact.method = data.text(.method).flatMap(VerificationMethod.init(rawValue:))
        fact.features = data.texts(.features).map { texts.list($0) }
        fact.tier = data.text(.tier).map { texts.name($0) }
        guard let origins = data.texts(.from) else { return [fact] }
        return origins.map { origin in
            fact.other = number("customer/" + origin)
            return fact
        }
    }

    func purchaseName(_ number: UInt64) -> String {
        String(names[Int(number)].dropFirst("purchase/".count))
    }

    func grantID(givenAt sequence: UInt64) -> String { grantIDs[sequence] ?? "" }
}
