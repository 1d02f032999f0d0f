import Entitlements

/// The sentences of what would change a decision, and of what is not used; each for support, and for
/// customers where it says less.
enum ExplanationChangeTexts {
    typealias Pair = ExplanationStepTexts.Pair

    static func texts(_ kind: Explanation.Change.Kind) -> Pair {
        switch kind {
        case .opens, .renewal, .reversal, .resumption, .verification, .claim, .approval:
            again(kind)
        case .mapping, .listing, .upgrade, .purchase, .trial, .grant: anew(kind)
        case .ends(let end): texts(end)
        case .refund:
            Pair(
                Sentence(
                    "A refund or revocation of {what} by the store would end it.",
                    "ストアが{what}を返金または取り消すと、終了します。",
                    "若商店將{what}退款或撤銷，便會結束。"
                )
            )
        case .withdrawal:
            Pair(
                Sentence(
                    "A withdrawal of {what} would end it.",
                    "{what}が取り消されると、終了します。",
                    "若收回{what}，便會結束。"
                )
            )
        case .catalog:
            Pair(
                Sentence(
                    "Only another catalog would end it.",
                    "別のカタログが適用された場合にのみ終了します。",
                    "只有改用其他目錄才會結束。"
                ),
                customer: Sentence(
                    "Only a change of our offer would end it.",
                    "提供内容が変更された場合にのみ終了します。",
                    "只有在方案內容變更時才會結束。"
                )
            )
        case .allSources:
            Pair(
                Sentence(
                    "{count} sources include it; it ends only when all of them have ended.",
                    "{count}件がこの機能を含んでおり、すべてが終わるまで利用できます。",
                    "共有 {count} 項包含此功能，全部結束後才會終止。"
                )
            )
        case .limitReset:
            Pair(
                Sentence(
                    "Uses count anew from {time}.",
                    "利用回数は{time}から数え直されます。",
                    "使用次數自 {time} 起重新計算。"
                )
            )
        }
    }

    // MARK: What there is already

    private static func again(_ kind: Explanation.Change.Kind) -> Pair {
        switch kind {
        case .opens: Again.opens
        case .renewal: Again.renewal
        case .reversal: Again.reversal
        case .resumption: Again.resumption
        case .verification: Again.verification
        case .approval: Again.approval
        case .claim(fromAnother: true): Again.transfer
        default: Again.claim
        }
    }

    /// The sentences of what there is already.
    private enum Again {
        static let opens = Pair(
            Sentence(
                "As things are known, it opens on {time}.",
                "現在わかっている限りでは、{time}に利用できるようになります。",
                "依目前所知，將於 {time} 開放。"
            )
        )
        static let renewal = Pair(
            Sentence(
                "A renewal or new purchase of {what} would open it.",
                "{what}が更新または再購入されると、利用できるようになります。",
                "若續訂或重新購買{what}，便會開放。"
            )
        )
        static let reversal = Pair(
            Sentence(
                "If the store reverses what it took back of {what}, it opens.",
                "ストアが{what}の返金や取り消しを元に戻すと、利用できるようになります。",
                "若商店將{what}的退款或撤銷復原，便會開放。"
            )
        )
        static let resumption = Pair(
            Sentence(
                "If {what} is resumed, it opens.",
                "{what}が再開されると、利用できるようになります。",
                "若恢復{what}，便會開放。"
            )
        )
        static let verification = Pair(
            Sentence(
                "If {what} passes verification, it opens.",
                "{what}が検証に合格すると、利用できるようになります。",
                "若{what}通過驗證，便會開放。"
            ),
            customer: Sentence(
                "Restoring your purchases may confirm {what} and open it.",
                "購入を復元すると、{what}が確認され、利用できるようになる場合があります。",
                "恢復購買項目後，{what}可能獲得確認並開放。"
            )
        )
        static let approval = Pair(
            Sentence(
                "When {what} is approved and paid for, it may open.",
                "{what}が承認され支払われると、利用できるようになる場合があります。",
                "{what}獲得核准並付款後，便可能開放。"
            )
        )
        static let transfer = Pair(
            Sentence(
                "If {what} is transferred to this customer, it opens.",
                "{what}がこの顧客に移されると、利用できるようになります。",
                "若將{what}轉移給此客戶，便會開放。"
            ),
            customer: Sentence(
                "If {what} should be in this account, restore your purchases here "
                    + "or contact support.",
                "{what}がこのアカウントのものである場合は、購入を復元するか、サポートまでお問い合わせください。",
                "若{what}應屬於此帳號，請在此恢復購買項目或聯絡客服。"
            )
        )
        static let claim = Pair(
            Sentence(
                "If this customer claims {what}, it opens.",
                "この顧客が{what}を自分のものとして登録すると、利用できるようになります。",
                "若此客戶認領{what}，便會開放。"
            ),
            customer: Sentence(
                "Restoring your purchases in this account may connect {what} to it.",
                "このアカウントで購入を復元すると、{what}が結び付けられる場合があります。",
                "在此帳號中恢復購買項目，可能會連結{what}。"
            )
        )
    }

    // MARK: What there is not yet

    private static func anew(_ kind: Explanation.Change.Kind) -> Pair {
        switch kind {
        case .mapping:
            Pair(
                Sentence(
                    "If the catalog knows the product of {what}, it may open.",
                    "カタログに{what}の商品が登録されると、利用できるようになる場合があります。",
                    "若目錄收錄{what}的商品，便可能開放。"
                ),
                customer: planSentence
            )
        case .listing:
            Pair(
                Sentence(
                    "A catalog that lists “{feature}” would have to be in force.",
                    "「{feature}」を含むカタログが有効である必要があります。",
                    "須有列出「{feature}」的目錄生效。"
                ),
                customer: Sentence(
                    "The feature would have to be offered.",
                    "この機能が提供される必要があります。",
                    "須先提供此功能。"
                )
            )
        case .upgrade:
            Pair(
                Sentence(
                    "A change to a product that gives the tier “{tier}” would open it.",
                    "ティア「{tier}」を与える商品に変更すると、利用できるようになります。",
                    "改用提供「{tier}」層級的商品，便會開放。"
                ),
                customer: planSentence
            )
        case .purchase:
            Pair(
                Sentence(
                    "One of these products would open it: {products}.",
                    "次の商品のいずれかで利用できるようになります：{products}。",
                    "購買下列任一商品便會開放：{products}。"
                ),
                customer: planSentence
            )
        case .trial:
            Pair(
                Sentence(
                    "{what} was not begun yet and would open it.",
                    "{what}はまだ始められておらず、始めると利用できるようになります。",
                    "{what}尚未開始，開始後便會開放。"
                )
            )
        default:
            Pair(
                Sentence(
                    "A grant by support would open it.",
                    "サポートによる付与で、利用できるようになります。",
                    "由客服贈與權限，便會開放。"
                )
            )
        }
    }

    private static let planSentence = Sentence(
        "A plan that includes this feature would open it.",
        "この機能を含むプランで、利用できるようになります。",
        "改用包含此功能的方案，便會開放。"
    )
}
