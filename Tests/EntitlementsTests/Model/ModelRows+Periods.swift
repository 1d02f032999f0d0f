extension ModelRow {
    static let time = [
        // T2
        ModelRow(
            "T2",
            "the newest by observation wins, whatever came last",
            """
            start
            app_store/1 renew 1~5 t1 m 41
            app_store/1 renew 1~3 t1 m 21
            """,
            "10 ann purchases.0.expiresAt = 41"
        ),
        // T2
        ModelRow(
            "T2",
            "observed together, the later in the log is newer",
            """
            start
            app_store/1 renew 1~5 t1 m 41
            app_store/1 renew 1~5 t1 m 21
            """,
            "10 ann purchases.0.expiresAt = 21"
        ),
        // T4
        ModelRow(
            "T4",
            "a prefix knows only its events",
            "start\napp_store/1 revocation.refunded 5",
            "10/3 ann purchases = []",
            "10/4 ann tier = plus",
            "10/2 ann tier = free",
            "10 ann tier = free"
        ),
        // T5
        ModelRow(
            "T5",
            "events after T speak of later times, and are not left out",
            "start\napp_store/1 revocation.refunded 20",
            "10 ann features.f1.until = 20",
            "10 ann purchases.0.status = active",
            "10 ann validUntil = 20",
            "20 ann purchases.0.status = refunded"
        ),
        // Section 2: environment
        ModelRow(
            "worlds",
            "environments never mix, the catalog is common",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31 environment=sandbox
            app_store/1 ok 1 environment=sandbox
            @ann claim 1 app_store/1
            @bob claim 2 app_store/1 environment=sandbox
            """,
            "10 ann purchases.0.status = none",
            "10:sandbox ann purchases = []",
            "10:sandbox bob tier = plus",
            "10 bob tier = free"
        ),
    ]

    static let periods = [
        // P1
        ModelRow(
            "P1",
            "the newest statement gives product, start and end",
            "start\napp_store/1 renew 3~5 t1 y 41",
            "2 ann purchases.0.status = none",
            "2 ann tier = free",
            "3 ann purchases.0.productId = y",
            "3 ann tier = pro",
            "3 ann purchases.0.expiresAt = 41"
        ),
        // P1
        ModelRow(
            "P1",
            "an absent end is without end",
            "start\napp_store/1 renew 1~2 t1 life",
            "500 ann purchases.0.expiresAt = null",
            "500 ann purchases.0.status = active",
            "500 ann features.f1.until = null",
            "500 ann validUntil = null"
        ),
        // P2
        ModelRow(
            "P2",
            "an extension moves the end, an expiry cuts it",
            """
            start
            app_store/1 purchase.extended 20 transactionId=t1 expiresAt=41
            app_store/1 purchase.expired 25 transactionId=t1
            """,
            "10/5 ann features.f1.until = 41",
            "10 ann features.f1.until = 25",
            "25 ann purchases.0.status = expired"
        ),
        // P2
        ModelRow(
            "P2",
            "an expiry observed before the base cuts nothing",
            "start\napp_store/1 purchase.expired 25~0.5 transactionId=t1",
            "10 ann purchases.0.expiresAt = 31"
        ),
        // P2
        ModelRow(
            "P2",
            "an expiry never lengthens",
            "start\napp_store/1 purchase.expired 40 transactionId=t1",
            "10 ann purchases.0.expiresAt = 31"
        ),
        // P2
        ModelRow(
            "P2",
            "an end before the start counts as the start",
            "start\napp_store/1 purchase.expired 0.5~2 transactionId=t1",
            "1 ann purchases.0.expiresAt = 1",
            "1 ann purchases.0.status = expired",
            "1 ann tier = free"
        ),
        // P2
        ModelRow(
            "P2",
            "a pass without a stated end lasts as the first catalog says that lists it",
            """
            catalog 1 products=[]
            catalog 5 products=[{"id":"pass","kind":"non_renewing","duration":"P10D",\
            "unlocks":{"tier":"pro"}}]
            catalog 8 products=[{"id":"pass","kind":"non_renewing","duration":"P2D",\
            "unlocks":{"tier":"pro"}}]
            app_store/1 buy 2 t1 pass
            app_store/1 ok 2
            @ann claim 2 app_store/1
            app_store/2 buy 9 t2 pass
            app_store/2 ok 9
            @bob claim 9 app_store/2
            app_store/2 purchase.expired 10 transactionId=t2
            """,
            "3 ann purchases.0.expiresAt = 12",
            "11.9 ann tier = pro",
            "12 ann purchases.0.status = expired",
            "12 ann tier = free",
            "9/9 bob purchases.0.expiresAt = 11",
            "9 bob purchases.0.expiresAt = 10"
        ),
        // P2
        ModelRow(
            "P2",
            "what a store states, and other kinds, do not take the catalog's duration",
            """
            catalog 1 products=[{"id":"pass","kind":"non_renewing","duration":"P2D",\
            "unlocks":{"tier":"pro"}},{"id":"life","kind":"non_consumable","unlocks":{"tier":"plus"}}]
            app_store/1 buy 2 t1 pass 40
            app_store/1 ok 2
            @ann claim 2 app_store/1
            app_store/2 buy 2 t2 life
            app_store/2 ok 2
            @bob claim 2 app_store/2
            """,
            "3 ann purchases.0.expiresAt = 40",
            "30 ann tier = pro",
            "99 bob tier = plus"
        ),
        // P2, section 3: whom a statement speaks of
        ModelRow(
            "speaks of",
            "without a transaction: the last period that starts before it",
            """
            start
            app_store/1 purchase.expired 1~5
            app_store/1 purchase.expired 20
            """,
            "10/5 ann purchases.0.expiresAt = 31",
            "10 ann purchases.0.expiresAt = 20"
        ),
        // P2, section 3: whom a statement speaks of
        ModelRow(
            "speaks of",
            "consumables are left out, a transaction unknown is nobody's",
            """
            start
            app_store/1 buy 5 c1 coins
            app_store/1 purchase.expired 20
            app_store/1 purchase.expired 10 transactionId=t9
            """,
            "10 ann features.f1.until = 20",
            "25 ann purchases.0.status = active",
            "25 ann purchases.0.productId = coins",
            "25 ann tier = free"
        ),
        // P3
        ModelRow(
            "P3",
            "the next auto-renewable period's start ends this one",
            "start\napp_store/1 buy 20 t2 y 50",
            "10 ann purchases.0.expiresAt = 20",
            "10 ann features.f2.allowed = false",
            "10 ann features.f1.until = 50",
            "20 ann features.f2.until = 50"
        ),
        // P3
        ModelRow(
            "P3",
            "other kinds neither cut nor are cut",
            "start\napp_store/1 buy 20 t2 pass 50\napp_store/1 buy 25 t3 m 26",
            "10 ann purchases.0.expiresAt = 25",
            "20 ann purchases.0.expiresAt = 50",
            "26 ann tier = pro"
        ),
        // P3
        ModelRow(
            "P3",
            "equal starts stand by the lowest sequence of any statement",
            """
            start
            app_store/1 buy 1 t2 y 50
            app_store/1 renew 1~9 t1 m 31
            """,
            "5 ann purchases.0.productId = y",
            "5 ann tier = pro"
        ),
        // P3
        ModelRow(
            "P3",
            "equal starts stand by when the store first told of each, in whatever order it came",
            """
            start
            app_store/1 buy 1~0.5 t2 y 50
            """,
            "5/4 ann purchases.0.productId = m",
            "5 ann purchases.0.productId = m",
            "5 ann tier = plus"
        ),
        // P4
        ModelRow(
            "P4",
            "the newest grace, from the end",
            """
            start
            app_store/1 purchase.grace_started 31 transactionId=t1 graceUntil=41
            app_store/1 purchase.grace_started 32 graceUntil=36
            """,
            "33/5 ann purchases.0.status = grace",
            "33/5 ann features.f1.until = 41",
            "33 ann features.f1.until = 36",
            "36 ann purchases.0.status = expired",
            "33 ann purchases.0.expiresAt = 31"
        ),
        // P4
        ModelRow(
            "P4",
            "a newer retry ends it, an older one does not",
            """
            start
            app_store/1 purchase.grace_started 31 transactionId=t1 graceUntil=41
            app_store/1 purchase.retry_started 35~30 transactionId=t1
            app_store/1 purchase.retry_started 38
            """,
            "33/6 ann features.f1.until = 41",
            "33 ann features.f1.until = 38",
            "39 ann purchases.0.status = billing_retry"
        ),
        // P4
        ModelRow(
            "P4",
            "the next auto-renewable period ends it",
            """
            start
            app_store/1 purchase.grace_started 31 transactionId=t1 graceUntil=41
            app_store/1 buy 36 t2 y 36
            """,
            "33 ann features.f1.until = 36",
            "36 ann purchases.0.status = expired"
        ),
        // P5
        ModelRow(
            "P5",
            "a pause takes away until resumed",
            "start\napp_store/1 purchase.paused 10\napp_store/1 purchase.resumed 15",
            "9 ann features.f1.until = 10",
            "10 ann purchases.0.status = paused",
            "14 ann tier = free",
            "15 ann purchases.0.status = active",
            "15 ann tier = plus"
        ),
        // P5
        ModelRow(
            "P5",
            "a period of any kind ends it, resumesAt and a resumption at once do not",
            """
            start
            app_store/1 purchase.paused 10 resumesAt=12
            app_store/1 purchase.resumed 10
            app_store/1 buy 14 c1 coins
            """,
            "13/6 ann purchases.0.status = paused",
            "20/6 ann tier = free",
            "13 ann tier = free",
            "14 ann tier = plus"
        ),
    ]
}
