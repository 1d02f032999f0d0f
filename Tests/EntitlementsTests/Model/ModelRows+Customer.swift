extension ModelRow {
    static let customer = [
        // C1
        ModelRow(
            "C1",
            "the first claimer owns since ever, a later claim from its time on",
            """
            start
            app_store/1 sync.completed 1
            @bob claim 10 app_store/1
            """,
            "0 ann purchases.0.purchase = app_store/1",
            "9 ann features.f1.until = 10",
            "9 ann validUntil = 10",
            "10 ann purchases = []",
            "10 bob tier = plus",
            "9 bob purchases = []"
        ),
        // C1
        ModelRow(
            "C1",
            "only the owner's release leaves none",
            """
            start
            @bob release 5 app_store/1
            @ann release 8 app_store/1
            @cy customer.transferred 9 from=ann,bob
            """,
            "6 ann tier = plus",
            "8 ann purchases = []",
            "10 cy purchases = []"
        ),
        // C1
        ModelRow(
            "C1",
            "a transfer takes all that its sources own",
            """
            start
            play_store/a buy 1 t1 y 31
            play_store/a ok 1
            @dee claim 1 play_store/a
            @bob customer.transferred 10 from=ann,cy
            """,
            "9 ann tier = plus",
            "10 bob tier = plus",
            "10 dee tier = pro",
            "10 ann purchases = []"
        ),
        // C1
        ModelRow(
            "C1",
            "events before the first claim count",
            """
            start
            @bob customer.transferred 0.5 from=ann
            """,
            "0.25 ann purchases.0.purchase = app_store/1",
            "0.75 bob purchases.0.purchase = app_store/1",
            "0.75 ann purchases = []",
            "1 ann tier = plus"
        ),
        // C2
        ModelRow(
            "C2",
            "an alias names its customer at all times",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31
            app_store/1 ok 1
            @anon claim 1 app_store/1
            @ann customer.linked 20 alias=anon
            @anon customer.linked 21 alias=ann
            """,
            "10 ann tier = plus",
            "10 anon tier = plus",
            "10 anon customer = anon",
            "10/4 ann tier = free"
        ),
        // C2
        ModelRow(
            "C2",
            "a newer link of an alias replaces the older",
            """
            start
            @bob customer.linked 30 alias=ann
            @cy customer.linked 2 alias=ann
            """,
            "10 cy tier = plus",
            "10 bob tier = free",
            "10 ann tier = plus"
        ),
        // C2
        ModelRow(
            "C2",
            "a link that closes a circle is passed over, the older one stays",
            """
            start
            @ann customer.linked 2 alias=x
            @bob customer.linked 3 alias=ann
            @x customer.linked 4 alias=ann
            """,
            "10 bob tier = plus",
            "10 x tier = plus"
        ),
        // C3
        ModelRow(
            "C3",
            "a grant is cut by a withdrawal at or after it",
            """
            catalog 1
            @ann grant.given 5 grantId=g features=f2,f1 expiresAt=15
            @ann grant.withdrawn 4 grantId=g
            @ann grant.withdrawn 10 grantId=g
            """,
            "5/3 ann features.f1.until = 15",
            "5 ann features.f1.until = 10",
            "5 ann features.f1.sources = [\"grant/g\"]",
            "5 ann features.f1.reason = grant",
            "5 ann grants.0.expiresAt = 10",
            "5 ann grants.0.features = [\"f1\",\"f2\"]",
            "10 ann grants.0.active = false",
            "4 ann grants = []",
            "5 ann tier = free"
        ),
        // C3
        ModelRow(
            "C3",
            "the newest given of an id, within a customer under all names",
            """
            catalog 1
            @ann grant.given 5~20 grantId=g tier=plus
            @anon grant.given 8~30 grantId=g tier=pro expiresAt=25
            @bob grant.given 6~40 grantId=g tier=pro
            @ann customer.linked 9 alias=anon
            """,
            "6 ann grants = []",
            "8 ann tier = pro",
            "8 ann grants.1 = absent",
            "25 ann tier = free",
            "25 bob tier = pro",
            "8 ann features.f3.until = 25"
        ),
        // C3
        ModelRow(
            "C3",
            "an end before the start counts as the start",
            "catalog 1\n@ann grant.given 5 grantId=g tier=pro expiresAt=3",
            "5 ann grants.0.expiresAt = 5",
            "5 ann grants.0.active = false",
            "5 ann tier = free"
        ),
        // C4
        ModelRow(
            "C4",
            "the first start by the catalog of that time, once",
            """
            catalog 1
            @ann trial.started 20 trialId=week
            @ann trial.started 5~30 trialId=week
            catalog 6 trials=[{"id":"week","days":30,"tier":"plus"}]
            """,
            "5 ann trials.0.remainingDays = 7",
            "5.5 ann trials.0.remainingDays = 7",
            "6 ann trials.0.remainingDays = 6",
            "12 ann trials.0.remainingDays = 0",
            "8 ann features.f2.until = 12",
            "8 ann features.f2.sources = [\"trial/week\"]",
            "8 ann tier = pro",
            "21 ann tier = free",
            "4 ann trials = []"
        ),
        // C4
        ModelRow(
            "C4",
            "a later start gives nothing, even if the first gave nothing",
            """
            catalog 1 trials=[]
            catalog 10
            @ann trial.started 5 trialId=week
            @ann trial.started 11 trialId=week
            """,
            "12 ann tier = free",
            "12 ann trials.0.remainingDays = 0"
        ),
        // C6
        ModelRow(
            "C6",
            "the fold passes customer.erased over",
            "start\n@ann customer.erased 10",
            "11 ann tier = plus"
        ),
    ]

    /// A feature f1 with one limit for tier plus.
    private static func limited(_ limit: String, _ more: String = "") -> String {
        """
        catalog 1 features=[{"id":"f1","level":"plus","limits":{"plus":\(limit)}}]\(more)
        @ann grant.given 1 grantId=g tier=plus
        @ann usage.recorded 5.2 useId=u1 featureId=f1
        @ann usage.recorded 5.9 useId=u2 featureId=f1
        """
    }

    private static func zone(_ first: Int, _ transitions: String) -> String {
        " timeZones={\"tzdata\":\"2025b\",\"zones\":{\"Test/Zone\":{\"offsetSeconds\":\(first),"
            + "\"transitions\":[\(transitions)]}}}"
    }

    /// Midnight of 2026-01-05 in UTC.
    private static let dayFive = 1_767_571_200_000

    private static func daily(_ zone: String = "UTC", period: String = "day") -> String {
        "{\"perPeriod\":{\"count\":3,\"period\":\"\(period)\",\"timeZone\":\"\(zone)\"}}"
    }

    static let usage = [
        // C5, T5
        ModelRow(
            "C5",
            "all uses of the day count, later ones too, without those reversed",
            limited(daily()) + """

                @ann usage.recorded 5.3 useId=u3 featureId=f2
                @bob usage.recorded 5.3 useId=u4 featureId=f1
                @ann usage.reversed 40 useId=u1
                """,
            "5.1/4 ann features.f1.limit.remaining = 1",
            "5.1 ann features.f1.limit.remaining = 2",
            "6 ann features.f1.limit.remaining = 3",
            "5.1 ann features.f1.limit.resetsAt = 6",
            "5.1 ann validUntil = 6",
            "5.1 ann features.f1.limit.perUse = null"
        ),
        // C5
        ModelRow(
            "C5",
            "never below 0, a repeated use counts again",
            limited(daily()) + """

                @ann usage.recorded 5.3 useId=u1 featureId=f1
                @ann usage.recorded 5.4 useId=u1 featureId=f1
                """,
            "5 ann features.f1.limit.remaining = 0"
        ),
        // C5
        ModelRow(
            "C5",
            "weeks start on Monday",
            limited(daily(period: "week")),
            "4.9 ann features.f1.limit.resetsAt = 5",
            "5 ann features.f1.limit.resetsAt = 12",
            "11.9 ann features.f1.limit.remaining = 1"
        ),
        // C5
        ModelRow(
            "C5",
            "months on the 1st",
            limited(daily(period: "month")),
            "31.9 ann features.f1.limit.resetsAt = 32",
            "32 ann features.f1.limit.resetsAt = 60"
        ),
        // C5, K10
        ModelRow(
            "C5",
            "days begin at the zone's midnight",
            limited(daily("Test/Zone"), zone(43_200, "")),
            "5.4 ann features.f1.limit.resetsAt = 5.5",
            "5.4 ann features.f1.limit.remaining = 2",
            "5.5 ann features.f1.limit.resetsAt = 6.5"
        ),
        // C5, K10
        ModelRow(
            "C5",
            "a day whose midnight is skipped starts at the transition",
            limited(daily("Test/Zone"), zone(0, "[\(dayFive),43200]")),
            "4.9 ann features.f1.limit.resetsAt = 5",
            "5.2 ann features.f1.limit.resetsAt = 5.5"
        ),
        // C5, K10
        ModelRow(
            "C5",
            "a repeated midnight starts one day only",
            limited(daily("Test/Zone"), zone(43_200, "[\(dayFive),0]")),
            "4.7 ann features.f1.limit.resetsAt = 6",
            "5.2 ann features.f1.limit.remaining = 1"
        ),
        // C5, K10
        ModelRow(
            "C5",
            "where clocks go back over two midnights, both days have begun",
            limited(daily("Test/Zone"), zone(86_400, "[\(dayFive + 8_640_000),-86400]")),
            "4.9 ann features.f1.limit.resetsAt = 5",
            "5.2 ann features.f1.limit.resetsAt = 8",
            "5.2 ann features.f1.limit.remaining = 1"
        ),
        // C5
        ModelRow(
            "C5",
            "a limit of a use alone has no window",
            limited("{\"perUse\":{\"amount\":60}}"),
            """
            5 ann features.f1.limit = {"period":null,"count":null,"remaining":null,\
            "perUse":{"amount":60,"unit":null},"resetsAt":null}
            """,
            "5 ann validUntil = null"
        ),
    ]
}
