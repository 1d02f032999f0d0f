extension ModelRow {
    static let access = [
        // P6
        ModelRow(
            "P6",
            "without a transaction: every period that has started, until reversed",
            """
            start
            app_store/1 buy 20 t2 pass 50
            app_store/1 revocation.refunded 25
            app_store/1 revocation.reversed 30 transactionId=t1
            app_store/1 buy 27 t3 life
            """,
            "24 ann tier = pro",
            "26 ann purchases.0.status = refunded",
            "26 ann tier = free",
            "27 ann features.f1.sources = [\"app_store/1\"]",
            "27 ann tier = free",
            "30 ann tier = plus",
            "31 ann tier = free"
        ),
        // P6
        ModelRow(
            "P6",
            "with a transaction: that one alone",
            """
            start
            app_store/1 buy 20 t2 pass 50
            app_store/1 revocation.revoked 25 transactionId=t2
            """,
            "26 ann features.f1.until = 31",
            "26 ann features.f2.allowed = false",
            "26 ann purchases.0.status = revoked"
        ),
        // P6
        ModelRow(
            "P6",
            "reversed at once takes nothing, another transaction's reversal does not count",
            """
            start
            app_store/1 revocation.refunded 10
            app_store/1 revocation.reversed 12 transactionId=t9
            app_store/1 revocation.reversed 10
            """,
            "20/6 ann purchases.0.status = refunded",
            "10 ann purchases.0.status = active"
        ),
        // P7
        ModelRow(
            "P7",
            "no verdict, no access",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31
            @ann claim 1 app_store/1
            app_store/1 ok 1 transactionId=t9
            """,
            "10 ann purchases.0.status = unverified",
            "10 ann purchases.0.isVerified = false",
            "10 ann tier = free"
        ),
        // P7
        ModelRow(
            "P7",
            "before the first verdict the first holds, then the last",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31
            @ann claim 1 app_store/1
            app_store/1 bad 20~2
            app_store/1 ok 10~50
            """,
            "5 ann features.f1.until = 20",
            "19 ann purchases.0.isVerified = true",
            "20 ann purchases.0.status = unverified",
            "25 ann tier = free"
        ),
        // P8
        ModelRow(
            "P8",
            "a consumable gives none",
            "start\napp_store/1 buy 5 c1 coins 60",
            "40 ann tier = free",
            "40 ann purchases.0.status = active",
            "40 ann features.f2.allowed = false"
        ),
        // P8
        ModelRow(
            "P8",
            "a pause takes away grace, too",
            """
            start
            app_store/1 purchase.grace_started 31 transactionId=t1 graceUntil=41
            app_store/1 purchase.paused 33
            app_store/1 purchase.resumed 35
            """,
            "32 ann features.f1.until = 33",
            "34 ann purchases.0.status = paused",
            "35 ann features.f1.until = 41"
        ),
        // P9
        ModelRow(
            "P9",
            "pending until abandoned, none without either",
            """
            @ann claim 1 play_store/a
            play_store/a purchase.pending 5
            play_store/a purchase.abandoned 8~2
            """,
            "4 ann purchases.0.status = none",
            "5 ann purchases.0.status = pending",
            "8 ann purchases.0.status = none",
            "5 ann purchases.0.productId = null",
            "5 ann purchases.0.isVerified = false",
            "4 ann validUntil = 5"
        ),
        // P9
        ModelRow(
            "P9",
            "refunded or revoked by the newest that covers T, before unverified",
            """
            start
            app_store/1 revocation.refunded 10~20
            app_store/1 revocation.revoked 12~15
            app_store/1 revocation.revoked 14~25
            app_store/1 bad 5
            """,
            "9 ann purchases.0.status = unverified",
            "13 ann purchases.0.status = refunded",
            "14 ann purchases.0.status = revoked"
        ),
        // P9
        ModelRow(
            "P9",
            "an expiry ends billing retry, even one that cuts nothing",
            """
            start
            app_store/1 purchase.retry_started 32 transactionId=t1
            app_store/1 purchase.expired 34~0.5 transactionId=t1
            """,
            "31 ann purchases.0.status = expired",
            "33 ann purchases.0.status = billing_retry",
            "34 ann purchases.0.status = expired"
        ),
        // P9, trap 10
        ModelRow(
            "P9",
            "the last period's status, while an older lifetime gives access",
            """
            catalog 1
            app_store/1 buy 1 t1 life
            app_store/1 ok 1
            @ann claim 1 app_store/1
            app_store/1 buy 5 t2 m 10
            """,
            "20 ann purchases.0.status = expired",
            "20 ann purchases.0.expiresAt = 10",
            "20 ann features.f1.reason = purchase",
            "20 ann tier = free",
            "7 ann tier = plus"
        ),
    ]

    static let renewal = [
        // P10
        ModelRow(
            "P10",
            "willRenew by the newest that says so, true by default",
            """
            start
            app_store/1 purchase.renewal_changed 10 autoRenew=false
            app_store/1 purchase.renewal_changed 11~5 autoRenew=true
            app_store/1 purchase.renewal_changed 12 nextProductId=y
            """,
            "9 ann purchases.0.willRenew = true",
            "10 ann purchases.0.willRenew = false",
            "12 ann purchases.0.willRenew = false",
            "11 ann purchases.0.nextProductId = null",
            "12 ann purchases.0.nextProductId = y"
        ),
        // P10
        ModelRow(
            "P10",
            "absent for other kinds",
            """
            start
            app_store/1 buy 5 t2 life
            app_store/1 purchase.renewal_changed 6 autoRenew=true nextProductId=y
            """,
            "7 ann purchases.0.willRenew = null",
            "7 ann purchases.0.nextProductId = null"
        ),
        // P11
        ModelRow(
            "P11",
            "the latest sync of the purchase itself",
            """
            start
            app_store/1 sync.completed 9 found=0
            app_store/1 sync.reconciled 7~20
            @ann sync.completed 10
            """,
            "6 ann purchases.0.isSynced = false",
            "6 ann purchases.0.syncedAt = null",
            "8 ann purchases.0.syncedAt = 7",
            "11 ann purchases.0.syncedAt = 9",
            "11 ann purchases.0.isSynced = true"
        ),
        // P12
        ModelRow(
            "P12",
            "the last period goes on for L",
            """
            catalog 1 policy={"renewalLeewaySeconds":86400}
            app_store/1 buy 1 t1 m 31
            app_store/1 ok 1
            @ann claim 1 app_store/1
            app_store/1 buy 40 t2 m 50
            """,
            "10/4 ann features.f1.until = 32",
            "31.5/4 ann purchases.0.status = active",
            "31.5/4 ann purchases.0.expiresAt = 31",
            "32/4 ann purchases.0.status = expired",
            "10 ann features.f1.until = 31",
            "40 ann features.f1.until = 51"
        ),
        // P12
        ModelRow(
            "P12",
            "not after an expiry, even one that shortens nothing",
            """
            catalog 1 policy={"renewalLeewaySeconds":86400}
            app_store/1 buy 1 t1 m 31
            app_store/1 ok 1
            @ann claim 1 app_store/1
            app_store/1 purchase.expired 35 transactionId=t1
            """,
            "10 ann features.f1.until = 31",
            "31.5 ann purchases.0.status = expired"
        ),
        // P12
        ModelRow(
            "P12",
            "not with a retry, nor with renewal off as known at R",
            """
            catalog 1 policy={"renewalLeewaySeconds":86400}
            app_store/1 buy 1 t1 m 31
            app_store/1 ok 1
            @ann claim 1 app_store/1
            app_store/1 purchase.renewal_changed 60 autoRenew=false
            app_store/1 purchase.renewal_changed 61 autoRenew=true
            app_store/1 purchase.retry_started 31.2 transactionId=t1
            """,
            "10/5 ann features.f1.until = 31",
            "10/6 ann features.f1.until = 32",
            "10 ann features.f1.until = 31",
            "31.5 ann purchases.0.status = billing_retry"
        ),
        // P12
        ModelRow(
            "P12",
            "L of the catalog in force at the end",
            """
            start
            catalog 31 policy={"renewalLeewaySeconds":172800}
            catalog 32 policy={"renewalLeewaySeconds":0}
            """,
            "10 ann features.f1.until = 33",
            "32.5 ann purchases.0.status = active"
        ),
        // P13
        ModelRow(
            "P13",
            "two names, one purchase, shown under the end of its links",
            """
            catalog 1
            play_store/b buy 1 t1 m 31
            play_store/a ok 1
            @ann claim 1 play_store/b
            play_store/a purchase.linked 20 alias=play_store/b
            play_store/b purchase.linked 21 alias=play_store/a
            """,
            "10 ann purchases.0.purchase = play_store/a",
            "10 ann purchases.1 = absent",
            "10 ann features.f1.sources = [\"play_store/a\"]",
            "10/5 ann purchases.0.status = active",
            "10/4 ann purchases.0.status = unverified"
        ),
        // P13
        ModelRow(
            "P13",
            "a link alone makes a purchase exist",
            """
            play_store/a purchase.linked 5 alias=play_store/b
            @ann claim 9 play_store/b
            """,
            "1 ann purchases.0.purchase = play_store/a",
            "1 ann tier = free"
        ),
    ]
}
