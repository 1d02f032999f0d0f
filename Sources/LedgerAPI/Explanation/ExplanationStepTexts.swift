import Entitlements

/// The sentences of steps; each for support, and for customers where it says less.
enum ExplanationStepTexts {
    /// A sentence for support and one for customers.
    struct Pair {
        var support: Sentence
        var customer: Sentence

        init(_ support: Sentence, customer: Sentence? = nil) {
            self.support = support
            self.customer = customer ?? support
        }
    }

    static func texts(
        _ effect: Explanation.Effect,
        _ topic: Explanation.Topic,
        _ mark: Explanation.EventMark?
    ) -> Pair {
        switch effect {
        case .requires, .isFree, .isNotListed, .variant, .nothing, .usedUp: gate(effect)
        case .linkedCustomer, .linkedPurchase, .owned, .handedOn, .notOwned, .accountErased:
            owner(effect)
        case .period(_, let end): period(end, mark)
        case .extended, .expired, .followed, .ended, .startsLater: end(effect, topic)
        case .grace, .graceEnded, .leeway, .retrying: afterEnd(effect)
        case .paused, .revoked, .reversed, .verified, .failedVerification, .neverVerified:
            taken(effect, mark)
        case .continued(_, let end): continued(end)
        case .isConsumable, .pending, .abandoned, .nothingBought: nothing(effect)
        case .isUnmapped:
            if case .trial = topic { unknownTrial } else { right(effect) }
        case .unlocks, .unlocksTier, .unlocksAll, .kept, .isLocked, .formerPlan: right(effect)
        case .granted(_, let end): granted(end)
        case .withdrawn:
            Pair(
                Sentence(
                    "{what} was withdrawn on {time}.",
                    "{what}は{time}に取り消されました。",
                    "{what}於 {time} 收回。"
                )
            )
        case .trial:
            Pair(
                Sentence(
                    "{what} runs from {start} to {end}.",
                    "{what}の期間は{start}から{end}までです。",
                    "{what}的期間為 {start} 至 {end}。"
                )
            )
        }
    }

    // MARK: K1, K2, K5, K8, C5

    private static func gate(_ effect: Explanation.Effect) -> Pair {
        switch effect {
        case .requires: Gate.requires
        case .isFree: Gate.isFree
        case .isNotListed: Gate.isNotListed
        case .variant: Gate.variant
        case .usedUp: Gate.usedUp
        default: Gate.nothing
        }
    }

    /// The sentences of what a gate requires.
    private enum Gate {
        static let requires = Pair(
            Sentence(
                "The catalog in force puts “{feature}” at the level “{tier}”.",
                "その時点で有効なカタログでは、「{feature}」のレベルは「{tier}」です。",
                "依當時生效的目錄，「{feature}」屬於「{tier}」等級。"
            ),
            customer: Sentence(
                "This feature belongs to a paid plan.",
                "この機能は有料プランに含まれています。",
                "此功能屬於付費方案。"
            )
        )
        static let isFree = Pair(
            Sentence(
                "The catalog in force gives “{feature}” to everybody.",
                "その時点で有効なカタログでは、「{feature}」は誰でも利用できます。",
                "依當時生效的目錄，所有人都可使用「{feature}」。"
            ),
            customer: Sentence(
                "This feature is free for everybody.",
                "この機能はどなたでも無料でご利用いただけます。",
                "此功能免費開放給所有人使用。"
            )
        )
        static let isNotListed = Pair(
            Sentence(
                "The catalog in force does not list “{feature}”.",
                "その時点で有効なカタログに「{feature}」はありません。",
                "當時生效的目錄未列出「{feature}」。"
            ),
            customer: Sentence(
                "This feature is not offered at that time.",
                "この機能はその時点では提供されていません。",
                "當時並未提供此功能。"
            )
        )
        static let variant = Pair(
            Sentence(
                "In the experiment “{experiment}” this customer is in the variant “{variant}”, "
                    + "which decides the level of “{feature}”.",
                "実験「{experiment}」でこの顧客はバリアント「{variant}」に属し、"
                    + "それが「{feature}」のレベルを決めています。",
                "在實驗「{experiment}」中，此客戶屬於變體「{variant}」，由它決定「{feature}」的等級。"
            ),
            customer: Sentence(
                "Which plan includes this feature is being tried out "
                    + "and may differ from person to person.",
                "この機能を含むプランは試験中のため、お客様によって異なる場合があります。",
                "包含此功能的方案正在測試中，可能因人而異。"
            )
        )
        static let usedUp = Pair(
            Sentence(
                "All {count} uses of the {period} are made; they count anew from {time}.",
                "{period}の利用回数{count}回をすべて使いました。{time}から数え直されます。",
                "{period}的 {count} 次使用次數已用完，自 {time} 起重新計算。"
            )
        )
        static let nothing = Pair(
            Sentence(
                "Nothing was bought, given or tried that could include “{feature}”.",
                "「{feature}」を含みうる購入・付与・お試しはありません。",
                "沒有任何可能包含「{feature}」的購買、贈與或試用。"
            ),
            customer: Sentence(
                "Your account has no purchase, trial or gift that could include this feature.",
                "お客様のアカウントには、この機能を含む購入・お試し・付与がありません。",
                "您的帳號沒有包含此功能的購買、試用或贈與。"
            )
        )
    }

    // MARK: C1, C2, P13

    private static func owner(_ effect: Explanation.Effect) -> Pair {
        switch effect {
        case .linkedCustomer: Owner.linkedCustomer
        case .linkedPurchase: Owner.linkedPurchase
        case .owned(let since): since == nil ? Owner.owned : Owner.ownedSince
        case .notOwned(byAnother: true): Owner.ownedByAnother
        case .notOwned: Owner.notOwned
        case .handedOn(until: .some): Owner.handedOnUntil
        case .accountErased: Owner.accountErased
        default: Owner.handedOn
        }
    }

    /// The sentences of whose a purchase is.
    private enum Owner {
        static let linkedCustomer = Pair(
            Sentence(
                "Another id is linked to this customer.",
                "別の ID がこの顧客に結び付けられています。",
                "另一個 ID 已連結到此客戶。"
            ),
            customer: Sentence(
                "Several of your accounts are joined into one.",
                "お客様の複数のアカウントは一つにまとめられています。",
                "您的多個帳號已合併為一。"
            )
        )
        static let linkedPurchase = Pair(
            Sentence(
                "The store has another name for {what}; both are one purchase.",
                "{what}にはストアでの別名があり、同じ購入として扱われます。",
                "{what}在商店中另有名稱，視為同一筆購買。"
            )
        )
        private static let yours = Sentence(
            "{what} belongs to your account.",
            "{what}はお客様のアカウントのものです。",
            "{what}屬於您的帳號。"
        )
        static let owned = Pair(
            Sentence(
                "{what} belongs to this customer.",
                "{what}はこの顧客のものです。",
                "{what}屬於此客戶。"
            ),
            customer: yours
        )
        static let ownedSince = Pair(
            Sentence(
                "{what} belongs to this customer since {since}.",
                "{what}は{since}からこの顧客のものです。",
                "{what}自 {since} 起屬於此客戶。"
            ),
            customer: yours
        )
        static let ownedByAnother = Pair(
            Sentence(
                "{what} belongs to another customer.",
                "{what}は別の顧客のものです。",
                "{what}屬於其他客戶。"
            ),
            customer: Sentence(
                "{what} is connected to another account.",
                "{what}は別のアカウントに結び付けられています。",
                "{what}已連結到其他帳號。"
            )
        )
        static let notOwned = Pair(
            Sentence(
                "{what} belongs to nobody.",
                "{what}には所有者がいません。",
                "{what}沒有擁有者。"
            ),
            customer: Sentence(
                "{what} is not connected to an account.",
                "{what}はどのアカウントにも結び付けられていません。",
                "{what}未連結到任何帳號。"
            )
        )
        static let accountErased = Pair(
            Sentence(
                "The account of {what} was erased: the account that is named next claims nothing.",
                "{what}のアカウントは消去されたため、次に示されるアカウントは所有者になりません。",
                "{what}的帳號已清除，其後所載的帳號不因此取得所有權。"
            ),
            customer: Sentence(
                "The account that {what} was connected to was erased.",
                "{what}が結び付けられていたアカウントは消去されました。",
                "{what}先前連結的帳號已清除。"
            )
        )
        static let handedOn = Pair(
            Sentence(
                "{what} had an owner before.",
                "{what}には以前の所有者がいます。",
                "{what}先前已有擁有者。"
            ),
            customer: Sentence(
                "{what} was connected to an account before.",
                "{what}は以前、あるアカウントに結び付けられていました。",
                "{what}先前曾連結到某個帳號。"
            )
        )
        static let handedOnUntil = Pair(
            Sentence(
                "{what} had an owner before, until {until}.",
                "{what}には以前、{until}まで所有者がいました。",
                "{what}先前有擁有者，至 {until} 為止。"
            ),
            customer: Sentence(
                "{what} was connected to an account before, until {until}.",
                "{what}は以前、{until}まで、あるアカウントに結び付けられていました。",
                "{what}先前曾連結到某個帳號，至 {until} 為止。"
            )
        )
    }
}
