import Entitlements

extension ExplanationStepTexts {
    // MARK: P1

    static func period(_ end: Instant?, _ mark: Explanation.EventMark?) -> Pair {
        switch (mark?.isFamilyShared ?? false, mark?.offer == "trial", end == nil) {
        case (true, _, false):
            Pair(
                Sentence(
                    "A family member shares {what}, from {start} to {end}.",
                    "{what}はご家族から共有されており、期間は{start}から{end}までです。",
                    "{what}由家人共享，期間為 {start} 至 {end}。"
                )
            )
        case (true, _, true):
            Pair(
                Sentence(
                    "A family member shares {what} since {start}.",
                    "{what}は{start}以降、ご家族から共有されています。",
                    "{what}自 {start} 起由家人共享。"
                )
            )
        case (_, true, false):
            Pair(
                Sentence(
                    "The store's free trial of {what} runs from {start} to {end}.",
                    "{what}のストア無料トライアルの期間は{start}から{end}までです。",
                    "{what}的商店免費試用期間為 {start} 至 {end}。"
                )
            )
        case (_, _, false):
            Pair(
                Sentence(
                    "{what} runs from {start} to {end}.",
                    "{what}の期間は{start}から{end}までです。",
                    "{what}的期間為 {start} 至 {end}。"
                )
            )
        default:
            Pair(
                Sentence(
                    "{what} was bought on {start} and has no end.",
                    "{what}は{start}に購入され、期限はありません。",
                    "{what}於 {start} 購買，沒有到期日。"
                )
            )
        }
    }

    // MARK: P2, P3, P8

    static func end(_ effect: Explanation.Effect, _ topic: Explanation.Topic) -> Pair {
        switch effect {
        case .extended(until: nil):
            Pair(
                Sentence(
                    "The store extended {what} without an end.",
                    "ストアは{what}を無期限に延長しました。",
                    "商店將{what}延長為沒有到期日。"
                )
            )
        case .extended:
            Pair(
                Sentence(
                    "The store extended {what} until {until}.",
                    "ストアは{what}を{until}まで延長しました。",
                    "商店將{what}延長至 {until}。"
                )
            )
        case .expired:
            Pair(
                Sentence(
                    "The store ended {what} on {at}.",
                    "ストアは{at}に{what}を終了しました。",
                    "商店於 {at} 終止{what}。"
                )
            )
        case .followed:
            Pair(
                Sentence(
                    "A newer period took the place of this one of {what} on {at}.",
                    "{at}に新しい期間が始まり、{what}のこの期間に代わりました。",
                    "{at} 起由新的期間取代{what}的這個期間。"
                )
            )
        case .startsLater:
            Pair(
                Sentence(
                    "{what} begins only on {at}.",
                    "{what}が始まるのは{at}です。",
                    "{what}於 {at} 才開始。"
                )
            )
        default: ended(topic)
        }
    }

    private static func ended(_ topic: Explanation.Topic) -> Pair {
        if case .purchase = topic {
            return Pair(
                Sentence(
                    "The period of {what} ended on {at}.",
                    "{what}の期間は{at}に終了しました。",
                    "{what}的期間於 {at} 結束。"
                )
            )
        }
        return Pair(
            Sentence(
                "{what} ended on {at}.",
                "{what}は{at}に終了しました。",
                "{what}於 {at} 結束。"
            )
        )
    }

    // MARK: P4, P9, P12

    static func afterEnd(_ effect: Explanation.Effect) -> Pair {
        switch effect {
        case .grace:
            Pair(
                Sentence(
                    "The payment failed; the store gave {what} a grace period until {until}.",
                    "支払いに失敗し、ストアは{what}に{until}までの猶予期間を設けました。",
                    "付款失敗，商店給予{what}寬限期至 {until}。"
                )
            )
        case .graceEnded:
            Pair(
                Sentence(
                    "The grace period of {what} ended on {at} without a payment.",
                    "{what}の猶予期間は、支払いのないまま{at}に終了しました。",
                    "{what}的寬限期於 {at} 結束，仍未付款。"
                )
            )
        case .leeway:
            Pair(
                Sentence(
                    "{what} stays open until {until}, because news of a renewal may be late.",
                    "更新の知らせが遅れることがあるため、{what}は{until}まで有効のままです。",
                    "續訂的消息可能延遲，因此{what}維持有效至 {until}。"
                )
            )
        default:
            Pair(
                Sentence(
                    "The store could not collect the payment for {what} and tries again.",
                    "ストアは{what}の支払いを受け取れず、再試行しています。",
                    "商店無法收取{what}的款項，正在重試。"
                )
            )
        }
    }

    // MARK: P8, P9

    static func nothing(_ effect: Explanation.Effect) -> Pair {
        switch effect {
        case .isConsumable:
            Pair(
                Sentence(
                    "{what} is used up and opens no feature.",
                    "{what}は消耗型のため、機能を開放しません。",
                    "{what}為消耗型項目，不會開啟功能。"
                )
            )
        case .pending:
            Pair(
                Sentence(
                    "{what} waits for approval or payment.",
                    "{what}は承認または支払いを待っています。",
                    "{what}正等待核准或付款。"
                )
            )
        case .abandoned:
            Pair(
                Sentence(
                    "{what} was not completed.",
                    "{what}は完了しませんでした。",
                    "{what}未完成。"
                )
            )
        default:
            Pair(
                Sentence(
                    "Nothing is known of {what} but who claimed it.",
                    "{what}については、所有の申告のほかに何も知られていません。",
                    "除了認領紀錄外，沒有{what}的任何資訊。"
                ),
                customer: Sentence(
                    "The store has told us nothing about {what} yet.",
                    "ストアから{what}についての情報がまだ届いていません。",
                    "商店尚未提供{what}的任何資訊。"
                )
            )
        }
    }

    // MARK: K2, K3, K4

    static func right(_ effect: Explanation.Effect) -> Pair {
        switch effect {
        case .unlocksTier:
            Pair(
                Sentence(
                    "{what} gives the tier “{tier}”, which includes “{feature}”.",
                    "{what}はティア「{tier}」を与え、そこに「{feature}」が含まれます。",
                    "{what}提供「{tier}」層級，其中包含「{feature}」。"
                ),
                customer: includesThis
            )
        case .unlocksAll:
            Pair(
                Sentence(
                    "{what} includes every feature.",
                    "{what}にはすべての機能が含まれます。",
                    "{what}包含所有功能。"
                )
            )
        case .kept:
            Pair(
                Sentence(
                    "{what} included “{feature}” when it was bought, "
                        + "and what was bought is never lost.",
                    "{what}は購入時に「{feature}」を含んでおり、購入したものが失われることはありません。",
                    "{what}購買時包含「{feature}」，已購買的功能不會失去。"
                ),
                customer: Sentence(
                    "{what} included this feature when it was bought, "
                        + "and what was bought is never lost.",
                    "{what}は購入時にこの機能を含んでおり、購入したものが失われることはありません。",
                    "{what}購買時包含此功能，已購買的功能不會失去。"
                )
            )
        case .isUnmapped:
            Pair(
                Sentence(
                    "The catalog in force does not know {what}.",
                    "その時点で有効なカタログに{what}はありません。",
                    "當時生效的目錄沒有{what}。"
                ),
                customer: Sentence(
                    "{what} is not part of the offer at that time.",
                    "{what}はその時点の提供内容に含まれていません。",
                    "{what}不在當時提供的方案之中。"
                )
            )
        case .isLocked(tier: nil): Pair(lacks, customer: lacksThis)
        case .isLocked:
            Pair(
                Sentence(
                    "{what} gives the tier “{tier}”, which does not include “{feature}”.",
                    "{what}が与えるティア「{tier}」には「{feature}」は含まれません。",
                    "{what}提供的「{tier}」層級不包含「{feature}」。"
                ),
                customer: lacksThis
            )
        case .formerPlan(isIncluded: true, _, _): formerlyIncluded
        case .formerPlan: formerlyLacked
        default:
            Pair(
                Sentence(
                    "{what} includes “{feature}”.",
                    "{what}には「{feature}」が含まれます。",
                    "{what}包含「{feature}」。"
                ),
                customer: includesThis
            )
        }
    }

    private static let formerlyIncluded = Pair(
        Sentence(
            "Formerly, from {start} to {end}, {what} included “{feature}”.",
            "以前、{start}から{end}まで、{what}には「{feature}」が含まれていました。",
            "先前自 {start} 至 {end}，{what}包含「{feature}」。"
        ),
        customer: Sentence(
            "Your former plan, from {start} to {end}, included this feature.",
            "以前のプラン（{start}から{end}まで）にはこの機能が含まれていました。",
            "您先前的方案，自 {start} 至 {end}，包含此功能。"
        )
    )

    private static let formerlyLacked = Pair(
        Sentence(
            "Formerly, from {start} to {end}, {what} did not include “{feature}”.",
            "以前、{start}から{end}まで、{what}には「{feature}」は含まれていませんでした。",
            "先前自 {start} 至 {end}，{what}不包含「{feature}」。"
        ),
        customer: Sentence(
            "Your former plan, from {start} to {end}, did not include this feature.",
            "以前のプラン（{start}から{end}まで）にはこの機能は含まれていませんでした。",
            "您先前的方案，自 {start} 至 {end}，不包含此功能。"
        )
    )

    private static let includesThis = Sentence(
        "{what} includes this feature.",
        "{what}にはこの機能が含まれます。",
        "{what}包含此功能。"
    )

    static let unknownTrial = Pair(
        Sentence(
            "The catalog in force when it began does not know {what}.",
            "開始時点で有効なカタログに{what}はありません。",
            "開始時生效的目錄沒有{what}。"
        ),
        customer: Sentence(
            "{what} was not part of the offer when it began.",
            "{what}は開始時点の提供内容に含まれていません。",
            "{what}不在開始時提供的方案之中。"
        )
    )

    private static let lacks = Sentence(
        "{what} does not include “{feature}”.",
        "{what}には「{feature}」は含まれません。",
        "{what}不包含「{feature}」。"
    )

    private static let lacksThis = Sentence(
        "{what} does not include this feature.",
        "{what}にはこの機能は含まれません。",
        "{what}不包含此功能。"
    )

    // MARK: K6

    static func continued(_ end: Instant?) -> Pair {
        Pair(
            end == nil
                ? Sentence(
                    "From {start} on, it is open through {what}, which has no end.",
                    "{start}以降は、期限のない{what}により利用できます。",
                    "自 {start} 起，可透過{what}使用，沒有到期日。"
                )
                : Sentence(
                    "From {start} to {end}, it is open through {what}.",
                    "{start}から{end}までは、{what}により利用できます。",
                    "自 {start} 至 {end}，可透過{what}使用。"
                )
        )
    }

    // MARK: C3

    static func granted(_ end: Instant?) -> Pair {
        Pair(
            end == nil
                ? Sentence(
                    "{what} began on {start} and has no end.",
                    "{what}は{start}に始まり、期限はありません。",
                    "{what}自 {start} 起有效，沒有到期日。"
                )
                : Sentence(
                    "{what} runs from {start} to {end}.",
                    "{what}の期間は{start}から{end}までです。",
                    "{what}自 {start} 至 {end} 有效。"
                )
        )
    }
}
