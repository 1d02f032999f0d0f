extension ModelRow {
    private static let lifetime = """
        app_store/1 buy 5 t1 life
        app_store/1 ok 5
        @ann claim 5 app_store/1
        """

    static let catalog = [
        // K1
        ModelRow(
            "K1",
            "before the first catalog the first holds, of whatever world",
            """
            catalog 20 environment=sandbox
            app_store/1 buy 1 t1 m 31
            app_store/1 ok 1
            @ann claim 1 app_store/1
            """,
            "5 ann tier = plus"
        ),
        // K1
        ModelRow(
            "K1",
            "without any: free, no features",
            "app_store/1 buy 1 t1 m 31\napp_store/1 ok 1\n@ann claim 1 app_store/1",
            "5 ann tier = free",
            "5 ann features = {}",
            "5 ann purchases.0.status = active",
            "5 ann warnings = [{\"code\":\"no_catalog\"}]",
            "5 ann validUntil = 31"
        ),
        // K1
        ModelRow(
            "K1",
            "the newest by time and sequence, not by observation or arrival",
            """
            start
            catalog 10 products=[{"id":"m","kind":"auto_renewable","unlocks":{"tier":"pro"}}]
            catalog 10~2 products=[{"id":"m","kind":"auto_renewable","unlocks":{"all":true}}]
            catalog 8~50 products=[{"id":"m","kind":"auto_renewable","unlocks":{"tier":"free"}}]
            """,
            "7 ann tier = plus",
            "8 ann tier = free",
            "10/5 ann tier = pro",
            "10 ann tier = pro",
            "9 ann features.f1.allowed = false",
            "10 ann features.f3.allowed = true"
        ),
        // K2
        ModelRow(
            "K2",
            "a tier unlocks levels at or below, the default level is the highest",
            "start\n@bob grant.given 1 grantId=g tier=pro",
            "10 ann features.f1.allowed = true",
            "10 ann features.f2.allowed = false",
            "10 ann features.f3.allowed = false",
            "10 bob features.f3.allowed = true"
        ),
        // K2
        ModelRow(
            "K2",
            "a feature that the catalog at T does not list is nobody's",
            """
            start
            @ann grant.given 1 grantId=g features=f1,f9
            catalog 10 features=[{"id":"f2"}]
            """,
            "9 ann features.f1.until = 10",
            "10 ann features.f1 = absent",
            "9 ann features.f9 = absent"
        ),
        // K2
        ModelRow(
            "K2",
            "a tier that the catalog at T does not list does not count",
            """
            catalog 1
            catalog 10 tiers=["free","plus"] features=[{"id":"f1","level":"plus"}]
            @ann grant.given 1 grantId=g tier=pro
            """,
            "9 ann tier = pro",
            "10 ann tier = free",
            "10 ann features.f1.allowed = false"
        ),
        // K3
        ModelRow(
            "K3",
            "what was bought for life is kept when the catalog forgets it",
            "catalog 1\n" + lifetime + "\ncatalog 10 products=[]",
            "11 ann features.f1.reason = purchase",
            "11 ann features.f1.until = null",
            "11 ann warnings = [{\"code\":\"unmapped\",\"productId\":\"life\"}]",
            "4 ann features.f1.allowed = false"
        ),
        // K3
        ModelRow(
            "K3",
            "levels as at the start; its tier counts if still listed",
            """
            catalog 1 products=[{"id":"life","kind":"non_consumable","unlocks":{"tier":"plus"}}]
            \(lifetime)
            catalog 10 products=[] features=[{"id":"f1","level":"pro"},{"id":"f2","level":"plus"}]
            catalog 20 products=[] trials=[] tiers=["free","pro"] features=[{"id":"f1"}]
            """,
            "11 ann features.f1.allowed = true",
            "11 ann features.f2.allowed = false",
            "11 ann tier = plus",
            "20 ann tier = free",
            "20 ann features.f1.allowed = true"
        ),
        // K3
        ModelRow(
            "K3",
            "`all` means the features listed then, and the highest tier at T",
            """
            catalog 1 products=[{"id":"life","kind":"non_consumable","unlocks":{"all":true}}] \
            features=[{"id":"f1"}]
            \(lifetime)
            catalog 10 products=[] trials=[] tiers=["free","max"] features=[{"id":"f1"},{"id":"f4"}]
            """,
            "11 ann features.f1.allowed = true",
            "11 ann features.f4.allowed = false",
            "11 ann tier = max"
        ),
        // K4
        ModelRow(
            "K4",
            "an unknown product unlocks nothing and is reported while it gives access",
            "start\ncatalog 10 products=[]",
            "9 ann warnings = []",
            "11 ann tier = free",
            "11 ann features.f1.allowed = false",
            "11 ann warnings.0.productId = m",
            "11 ann purchases.0.status = active",
            "31 ann warnings.0.code = renewal_expected"
        ),
        // K5
        ModelRow(
            "K5",
            "level free is for all; purchase, trial, grant in this order",
            """
            start
            @ann trial.started 10 trialId=week
            @ann grant.given 12 grantId=g features=open,f1,f2
            """,
            "5 nobody features.open.reason = free",
            "5 nobody features.open.sources = []",
            "13 ann features.f1.reason = purchase",
            "13 ann features.f2.reason = trial",
            "17 ann features.f2.reason = grant",
            "17 ann features.f3.reason = none",
            "13 ann features.f1.sources = [\"app_store/1\",\"grant/g\",\"trial/week\"]",
            "32 ann features.open.sources = [\"grant/g\"]"
        ),
        // K6
        ModelRow(
            "K6",
            "until is the first instant without, over all sources",
            """
            start
            @ann grant.given 25 grantId=g tier=plus expiresAt=40
            catalog 45 features=[{"id":"f1","level":"free"}]
            catalog 50
            """,
            "10 ann features.f1.until = 40",
            "10 ann validUntil = 25",
            "42 ann features.f1.until = null",
            "45 ann features.f1.until = 50",
            "10 ann features.f2.until = null",
            "10 ann features.open.until = 45"
        ),
        // K7
        ModelRow(
            "K7",
            "the highest tier counts, features alone do not",
            """
            start
            @ann grant.given 5 grantId=g tier=free
            @ann trial.started 10 trialId=week
            @bob grant.given 5 grantId=g features=f2
            """,
            "6 ann tier = plus",
            "10 ann tier = pro",
            "17 ann tier = plus",
            "6 bob tier = free"
        ),
        // K9
        ModelRow(
            "K9",
            "a product is known within its store",
            """
            catalog 1 products=[{"id":"m","kind":"auto_renewable",\
            "stores":{"play_store":["m.play"],"stripe":[]},"unlocks":{"tier":"plus"}}]
            app_store/1 buy 1 t1 m 31
            app_store/1 ok 1
            @ann claim 1 app_store/1
            play_store/a buy 1 t1 m.play 31
            play_store/a ok 1
            @bob claim 1 play_store/a
            stripe/s buy 1 t1 m 31
            stripe/s ok 1
            @cy claim 1 stripe/s
            """,
            "5 ann tier = plus",
            "5 bob tier = plus",
            "5 cy tier = free",
            "5 cy warnings.0.productId = m"
        ),
        // K9
        ModelRow(
            "K9",
            "Apple's two keys are one store's",
            """
            catalog 1 products=[{"id":"m","kind":"auto_renewable",\
            "stores":{"mac_app_store":["m.mac"],"app_store":["m.ios"]},"unlocks":{"tier":"plus"}},\
            {"id":"y","kind":"auto_renewable","stores":{"mac_app_store":["y.mac"]},"unlocks":{"tier":"pro"}}]
            app_store/1 buy 1 t1 m.mac 31
            app_store/1 ok 1
            @ann claim 1 app_store/1
            mac_app_store/2 buy 1 t2 m.ios 31
            mac_app_store/2 ok 1
            @bob claim 1 mac_app_store/2
            app_store/3 buy 1 t3 y.mac 31
            app_store/3 ok 1
            @cy claim 1 app_store/3
            app_store/4 buy 1 t4 y 31
            app_store/4 ok 1
            @dee claim 1 app_store/4
            """,
            "5 ann tier = plus",
            "5 bob tier = plus",
            "5 cy tier = pro",
            "5 dee tier = free"
        ),
        // K9, P13
        ModelRow(
            "K9",
            "its store is that of the name shown",
            """
            catalog 1 products=[{"id":"m","kind":"auto_renewable",\
            "stores":{"play_store":["m.play"]},"unlocks":{"tier":"plus"}}]
            play_store/a buy 1 t1 m.play 31
            play_store/a ok 1
            @ann claim 1 play_store/a
            app_store/1 purchase.linked 5 alias=play_store/a
            """,
            "3/4 ann tier = plus",
            "3 ann tier = free",
            "3 ann warnings.0.productId = m.play"
        ),
    ]

    /// Experiment `exp`: SHA-256("exp" 0x00 customer) over 2^64 is 0.95405… for ann, 0.70114… for
    /// bob, 0.19972… for cy, 0.28742… for anon; `two`: 0.95076… for ann, 0.80697… for cy (by
    /// Python's hashlib).
    private static func experiment(_ id: String, _ weights: [Int], _ level: String) -> String {
        "{\"id\":\"\(id)\",\"variants\":[{\"id\":\"a\",\"weight\":\(weights[0])},"
            + "{\"id\":\"b\",\"weight\":\(weights[1]),\"overrides\":{\"features\":"
            + "[{\"id\":\"f2\",\"level\":\"\(level)\"}]}}]}"
    }

    static let experiments = [
        // K8
        ModelRow(
            "K8",
            "the first variant whose cumulated share is greater than x",
            "catalog 1 experiments=[\(experiment("exp", [71, 29], "free"))]",
            "5 ann features.f2.reason = free",
            "5 bob features.f2.reason = none",
            "5 cy features.f2.reason = none"
        ),
        // K8
        ModelRow(
            "K8",
            "shares are weights over their sum",
            "catalog 1 experiments=[\(experiment("exp", [7, 3], "free"))]",
            "5 bob features.f2.reason = free",
            "5 cy features.f2.reason = none"
        ),
        // K8: exact; bob's x times 10^18 lies between 701144592036736999 and …737000
        ModelRow(
            "K8",
            "exactly",
            """
            catalog 1 experiments=[\
            \(experiment("exp", [701_144_592_036_736, 298_855_407_963_264], "free"))]
            catalog 10 experiments=[\
            \(experiment("exp", [701_144_592_036_737, 298_855_407_963_263], "free"))]
            """,
            "5 bob features.f2.reason = free",
            "10 bob features.f2.reason = none"
        ),
        // K8, C2
        ModelRow(
            "K8",
            "the customer's id is the one after links",
            """
            catalog 1 experiments=[\(experiment("exp", [71, 29], "free"))]
            @ann customer.linked 5 alias=anon
            """,
            "5/1 anon features.f2.reason = none",
            "5 anon features.f2.reason = free"
        ),
        // K8
        ModelRow(
            "K8",
            "in list order the later override wins",
            """
            catalog 1 experiments=[\(experiment("exp", [1, 99], "free")),\
            \(experiment("two", [90, 10], "plus"))]
            @cy grant.given 5 grantId=g tier=plus
            @ann grant.given 5 grantId=g tier=plus
            """,
            "5 cy features.f2.reason = free",
            "5 ann features.f2.reason = grant",
            "4 ann features.f2.reason = none"
        ),
        // K8, C5
        ModelRow(
            "K8",
            "limits are overridden, levels not named stay",
            """
            catalog 1 experiments=[{"id":"exp","variants":[{"id":"a","weight":1,"overrides":\
            {"features":[{"id":"f1","limits":{"plus":{"perPeriod":{"count":5,"period":"day"}}}}\
            ]}}]}]
            @ann grant.given 5 grantId=g tier=plus
            """,
            "5 ann features.f1.limit.count = 5",
            "5 ann features.f1.limit.resetsAt = 6",
            "4 ann features.f1.limit = null",
            "5 ann features.f1.reason = grant"
        ),
    ]
}
