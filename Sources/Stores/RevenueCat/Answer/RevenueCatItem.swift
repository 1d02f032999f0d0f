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
    /// a note is kept for; nil: for RevenueCat. `answer`: what it stands in.
    init(
        _ name: String,
        _ json: JSONValue,
        of product: String,
        beside: [JSONValue],
        environment: StoreEnvironment?,
        customer: CustomerID?,
        in answer: RevenueCatAnswer,
        standing: () throws(InputFault) -> RevenueCatStanding
    ) {
        var state = JSONValue.bool(false)
        do throws(InputFault) {
            guard environment != nil else {
                throw InputFault(unusable: "environment is not known")
            }
            let standing = try standing()
            drafts = standing.drafts()
            // One that is not dated tells no time: handed in again it is a repeat, unless it is over by then.
            state = answer.isDated ? standing.said : .bool(standing.isOver)
        } catch {
            // Neither environment may learn of a purchase in an unknown one.
            let subject = (environment == nil ? nil : customer).map { Subject.customer($0) }
            drafts = [
                Self.note(
                    name,
                    on: subject ?? .store(Source.revenueCat),
                    at: answer.observedAt,
                    detail: error.detail
                )
            ]
        }
        self.environment = environment ?? .production
        content = .array([.string(product), state, Self.stable(json)] + beside)
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

extension RevenueCatStanding {
    /// What it says beside the entry, whose members may stay the same where a period ends and access goes on:
    /// its state, and until when access was seen whose end is not told.
    fileprivate var said: JSONValue {
        switch state {
        case .running: "running"
        case .grace(until: nil): .array(["grace", .instant(seenUntil)])
        case .grace: "grace"
        case .retry: "retry"
        case .paused: "paused"
        case .over: "over"
        case .pending: "pending"
        case .unstated: "unstated"
        case .cut: "cut"
        }
    }
}
