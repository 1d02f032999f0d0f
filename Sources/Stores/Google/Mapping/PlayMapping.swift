package import Encodings
public import Entitlements

/// From what Google Play says to what it means: pure tables (Stores, rule 1), `PlayRows` of
/// notifications and `PlayStates` of subscriptions.
///
/// Nothing is dropped: a type or state that has no row, and a message whose fields its row cannot
/// use, become `signal.noted` with the message as evidence (Stores, rules 5 and 6). Cost: linear in
/// the message.
public enum PlayMapping {
    /// What a push comes to; always at least one event.
    ///
    /// Its `id` is `messageId`; `body`, as received, is kept as evidence. A notification does not say
    /// whether its purchase was a tester's: it is taken for production's.
    public static func submission(for push: VerifiedPlayPush, body: [UInt8]) -> Submission {
        submission(for: push, body: body, environment: .production, unansweredBy: nil)
    }

    /// What a push comes to after the Developer API was asked.
    ///
    /// `environment`: that of its answer. `fault`: why it has none, and will have none later.
    package static func submission(
        for push: VerifiedPlayPush,
        body: [UInt8],
        environment: StoreEnvironment,
        unansweredBy fault: StoreFault?
    ) -> Submission {
        var drafts = drafts(of: push.notification)
        if let fault { drafts.append(failure(fault, of: push.notification)) }
        return submission(push.messageID, environment, drafts, evidence: body)
    }

    /// What an answer of the Developer API comes to, with what was asked: always at least one event, and
    /// what is to be acknowledged.
    ///
    /// `body`: the answer as `PlayDeveloperAPI` gives it, kept as evidence. `packageNames`: the apps that
    /// may be asked about. `now`: the time of arrival.
    package static func facts(
        ofAnswer body: [UInt8],
        packageNames: Set<Name>,
        now: Instant
    ) -> Result<PlayFacts, SignalRefusal> {
        let json: JSONValue
        do throws(JSONFault) {
            json = try JSONValue(parsingStoreText: body)
        } catch {
            return .failure(
                SignalRefusal(.malformed, "", "\(error.message) at byte \(error.offset)")
            )
        }
        return Result { () throws(SignalRefusal) in
            let answer = try PlayAnswer(json, body: body, packageNames: packageNames, now: now)
            return PlayFacts(
                submission: submission(for: answer),
                acknowledgement: PlayAcknowledgement(missingIn: answer)
            )
        }
    }

    /// What an answer comes to; always at least one event.
    static func submission(for answer: PlayAnswer) -> Submission {
        let drafts: [EventDraft]
        do throws(InputFault) {
            drafts = try self.drafts(of: answer)
        } catch {
            drafts = [
                note(
                    answer.name,
                    on: PurchaseName.play(answer.token),
                    at: answer.observedAt,
                    detail: error.detail
                )
            ]
        }
        return submission(
            answer.signalID,
            answer.environment,
            // A push is told once, as any store's message, and what has no time again with each import.
            nature: answer.cause == nil && answer.isDated ? .answer : .signal,
            drafts,
            evidence: answer.body
        )
    }

    /// What an order that was given back comes to; it does not say whether it was a tester's.
    static func submission(for voided: PlayVoidedPurchase, body: [UInt8]) -> Submission {
        submission(voided.signalID, .production, voided.drafts(), evidence: body)
    }

    /// What signed purchase data comes to; its `id` is that of the text.
    public static func submission(for purchase: VerifiedPlayPurchase) -> Submission {
        submission(purchase.signalID, .production, drafts(of: purchase), evidence: purchase.body)
    }

    private static func submission(
        _ id: String,
        _ environment: StoreEnvironment,
        nature: Submission.Nature = .signal,
        _ drafts: [EventDraft],
        evidence: [UInt8]
    ) -> Submission {
        Submission(
            id: SignalID.of(id),
            source: Source.playStore,
            environment: environment,
            nature: nature,
            drafts: drafts,
            evidence: evidence,
            named: PayloadNames.playStore.subjects(in: evidence)
        )
    }

    /// The states of subscriptions that have a row.
    package static var knownStates: [String] { PlayStates.all.sorted() }

    /// A message that changes nothing, kept all the same (Stores, rule 5): for the purchase, or for
    /// the store where none is named.
    static func note(
        _ name: String,
        on purchase: PurchaseName?,
        at time: Instant,
        detail: String? = nil
    ) -> EventDraft {
        EventDraft(
            subject: purchase.map { .purchase($0) } ?? .store(Source.playStore),
            time: time,
            observedAt: time,
            data: EventData(
                .signalNoted,
                [.name: .text(name), .detail: detail.map { .text($0) }]
            )
        )
    }
}

// MARK: Notifications

extension PlayMapping {
    private static func drafts(of notification: PlayNotification) -> [EventDraft] {
        let purchase = notification.token.flatMap { PurchaseName.play($0) }
        let at = notification.saidAt
        guard !notification.isOddlyDated else {
            return [note("notification", on: purchase, at: at, detail: "eventTimeMillis is absurd")]
        }
        switch notification.content {
        case .subscription(let type, _):
            return hint(PlayRows.subscription(type), "subscription_\(type)", purchase, at)
        case .oneTimeProduct(let type, _):
            return hint(PlayRows.oneTimeProduct(type), "one_time_product_\(type)", purchase, at)
        case .voided(let voided): return drafts(of: voided, at: at)
        case .pendingRefundReview: return [note("pending_refund_review", on: nil, at: at)]
        case .test: return [note("test", on: nil, at: at)]
        case .unknown: return [note("unknown_notification", on: purchase, at: at)]
        }
    }

    private static func hint(
        _ row: (name: String, hint: PlayRows.Hint)?,
        _ unknown: String,
        _ purchase: PurchaseName?,
        _ time: Instant
    ) -> [EventDraft] {
        let noted = note(row?.name ?? unknown, on: purchase, at: time)
        let kind: EventKind
        switch row?.hint {
        case .exists: kind = .purchasePending
        case .abandoned: kind = .purchaseAbandoned
        case .noted, nil: return [noted]
        }
        guard let purchase else { return [noted] }
        let said = EventDraft(
            subject: .purchase(purchase),
            time: time,
            observedAt: time,
            data: EventData(kind, [:])
        )
        return [noted, said]
    }

    /// What was hinted at cannot be asked for: support sees why nothing came of it.
    private static func failure(
        _ fault: StoreFault,
        of notification: PlayNotification
    ) -> EventDraft {
        EventDraft(
            subject: notification.token.flatMap { PurchaseName.play($0) }.map { .purchase($0) }
                ?? .store(Source.playStore),
            time: notification.saidAt,
            observedAt: notification.saidAt,
            data: EventData(
                .failureRecorded,
                [
                    .errorCode: .text("store_" + fault.code.rawValue), .stage: .text("fetch"),
                    .retryable: .flag(false),
                ]
            )
        )
    }

    /// An order was given back: it needs no other answer.
    ///
    /// Whatever the API says of the subscription, for a while still `ACTIVE` say, that period was taken
    /// away.
    /// A part of several consumables takes no access away.
    private static func drafts(
        of voided: PlayNotification.Voided,
        at time: Instant
    ) -> [EventDraft] {
        let purchase = PurchaseName.play(voided.token)
        guard let purchase, voided.isWhole == true else {
            let name = voided.isWhole == false ? "voided_in_part" : "voided"
            return [note(name, on: purchase, at: time)]
        }
        return [
            EventDraft(
                subject: .purchase(purchase),
                time: time,
                observedAt: time,
                data: EventData(
                    .revocationRefunded,
                    [.transactionID: .text(voided.orderID), .reason: .text("voided")]
                )
            )
        ] + link(purchase, toOrder: voided.orderID, at: time)
    }

    /// That an order is the same purchase, by whose first one RevenueCat calls it (P13); none where the
    /// purchase is called so already.
    static func link(
        _ purchase: PurchaseName,
        toOrder id: String,
        at time: Instant
    ) -> [EventDraft] {
        guard let order = PurchaseName.play(PlayOrder(id).base), order != purchase else {
            return []
        }
        return [
            EventDraft(
                subject: .purchase(purchase),
                time: time,
                observedAt: time,
                data: EventData(.purchaseLinked, [.alias: .text(order.description)])
            )
        ]
    }
}
