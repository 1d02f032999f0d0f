import Encodings
import Entitlements

/// What one entry of an answer comes to.
struct RevenueCatItem: Hashable, Sendable {
    /// Where its purchase belongs.
    let environment: StoreEnvironment
    /// What it says; never empty.
    let drafts: [EventDraft]
    /// What tells it from another that says something else, whenever it was asked for.
    let content: JSONValue

    /// Reads an entry; one that cannot be used is noted, and the others count (Stores, rule 6).
    ///
    /// `name`: what it is called in a note. `product`: what it is listed under, apart from its members.
    /// `beside`: what was told of it elsewhere. `environment`: nil: it is not known. `customer`: whom
    /// a note is kept for; nil: for RevenueCat.
    init(
        _ name: String,
        _ json: JSONValue,
        of product: String,
        beside: [JSONValue],
        environment: StoreEnvironment?,
        customer: CustomerID?,
        observedAt: Instant,
        standing: () throws(InputFault) -> RevenueCatStanding
    ) {
        var isOver = false
        do throws(InputFault) {
            guard environment != nil else {
                throw InputFault(unusable: "environment is not known")
            }
            let standing = try standing()
            drafts = standing.drafts()
            isOver = standing.isOver
        } catch {
            // Neither environment may learn of a purchase in an unknown one.
            let subject = (environment == nil ? nil : customer).map { Subject.customer($0) }
            drafts = [
                Self.note(
                    name,
                    on: subject ?? .store(Source.revenueCat),
                    at: observedAt,
                    detail: error.detail
                )
            ]
        }
        self.environment = environment ?? .production
        content = .array([.string(product), .bool(isOver), Self.stable(json)] + beside)
    }

    /// What changes no access, kept all the same (Stores, rule 5).
    static func note(
        _ name: String,
        on subject: Subject,
        at time: Instant,
        detail: String?
    ) -> EventDraft {
        EventDraft(
            subject: subject,
            time: time,
            data: EventData(
                .signalNoted,
                [.name: .text(name), .detail: detail.map { .text($0) }]
            )
        )
    }

    /// The members in the order of their names, without those that change with nothing that was
    /// bought.
    private static func stable(_ json: JSONValue) -> JSONValue {
        guard let members = json.members else { return json }
        let kept = members.filter { !passing.contains(Name($0.name)) }
        return .object(kept.sorted { $0.name.precedes($1.name) })
    }

    private static let passing: Set<Name> = [
        "management_url", "entitlements", "presented_offering_id", "total_revenue_in_usd",
        "revenue_in_usd", "display_name",
    ]
}
