extension ModelRow {
    private static let moving = "catalog 1 policy={\"claim\":\"transfer\"}"

    /// Whom stores name as the owner (C1).
    static let accounts = [
        ModelRow(
            "C1",
            "an account owns since ever, without any claim",
            """
            catalog 1
            app_store/1 sync.completed 0.5
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            """,
            "0 ann purchases.0.purchase = app_store/1",
            "10 ann tier = plus",
            "10 ann warnings = []",
            "10 bob purchases = []"
        ),
        ModelRow(
            "C1",
            "under keep another account changes nothing",
            """
            catalog 1
            app_store/1 renew 31 t2 m 61 account=bob
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            """,
            "40 ann tier = plus",
            "40 bob purchases = []"
        ),
        ModelRow(
            "C1",
            "under transfer another account owns from its period on, heard in any order",
            """
            \(moving)
            app_store/1 renew 31 t2 m 61 account=bob
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            """,
            "30 ann tier = plus",
            "30 ann validUntil = 31",
            "30 bob purchases = []",
            "31 ann purchases = []",
            "31 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "an account claims what nobody owns, under keep too",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @ann release 20 app_store/1
            app_store/1 renew 31 t2 m 61 account=bob
            """,
            "19 ann tier = plus",
            "20 ann purchases = []",
            "31 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "a renewal that carries the old token undoes no claim",
            """
            \(moving)
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @bob claim 10 app_store/1
            app_store/1 renew 31 t2 m 61 account=ann
            """,
            "9 ann tier = plus",
            "10 ann purchases = []",
            "40 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "a renewal that carries the old token undoes no transfer",
            """
            \(moving)
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @bob customer.transferred 10 from=ann
            app_store/1 renew 31 t2 m 61 account=ann
            """,
            "9 ann tier = plus",
            "40 ann purchases = []",
            "40 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "a period's account is that of the newest statement that has one",
            """
            catalog 1
            app_store/1 buy 1~3 t1 m 31 account=bob
            app_store/1 buy 1~2 t1 m 31 account=ann
            app_store/1 buy 1~4 t1 m 31
            app_store/1 ok 1
            """,
            "10 ann purchases = []",
            "10 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "of one start the last in P3's order names the owner, whatever its kind",
            """
            catalog 1
            app_store/1 buy 1~3 t2 coins account=bob
            app_store/1 buy 1~2 t1 m 31 account=ann
            app_store/1 ok 1
            """,
            "10 ann purchases = []",
            "10 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "two names of one customer are no change",
            """
            \(moving)
            app_store/1 buy 1 t1 m 31 account=anon
            app_store/1 ok 1
            @bob claim 10 app_store/1
            app_store/1 renew 31 t2 m 61 account=ann
            @ann customer.linked 50 alias=anon
            """,
            "40/5 ann tier = plus",
            "40 ann purchases = []",
            "40 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "the catalog in force at the account's claim decides",
            """
            \(moving)
            catalog 40
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 renew 31 t2 m 61 account=bob
            app_store/1 renew 61 t3 m 91 account=cy
            app_store/1 ok 1
            """,
            "40 bob tier = plus",
            "70 bob tier = plus",
            "70 cy purchases = []"
        ),
        ModelRow(
            "C1",
            "what comes before the first claim in the walk counts",
            """
            catalog 1
            app_store/1 buy 5 t1 m 31 account=ann
            app_store/1 ok 1
            @cy customer.transferred 2 from=ann
            """,
            "1 ann purchases.0.purchase = app_store/1",
            "2 cy purchases.0.purchase = app_store/1",
            "10 cy tier = plus"
        ),
        ModelRow(
            "C1",
            "a claim by hand stands beside an account",
            """
            catalog 1
            app_store/1 buy 5 t1 m 31 account=ann
            app_store/1 ok 1
            @bob claim 3 app_store/1
            """,
            "4 bob purchases.0.purchase = app_store/1",
            "10 ann purchases = []",
            "10 bob tier = plus"
        ),
    ]

    /// What an erasure leaves of accounts: an erasure changes no answer about anybody else (C1).
    static let erasedAccounts = [
        ModelRow(
            "C1",
            "who was told of before the erasure keeps what they took over",
            """
            \(moving)
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            app_store/1 renew 31 t2 m 61 account=bob
            @ann customer.erased 40
            """,
            "35/4 bob tier = plus",
            "35 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "a change that is told after the erasure is none, the next one is",
            """
            \(moving)
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @bob claim 10 app_store/1
            @ann customer.erased 20
            app_store/1 renew 31 t2 m 61 account=ann2
            app_store/1 renew 61 t3 m 91 account=ann2
            app_store/1 renew 91 t4 m 121 account=cy
            """,
            "35 bob tier = plus",
            "65 bob tier = plus",
            "95 cy tier = plus"
        ),
    ]
    /// What a store tells again after an erasure takes nothing from the next owner (C1).
    static let accountsToldAgain = [
        ModelRow(
            "C1",
            "an old transaction that is told again leaves a transfer",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @bob customer.transferred 10 from=ann
            @ann customer.erased 20
            app_store/1 buy 1~21 t1 m 31 account=ann2
            """,
            "9 ann2 purchases = []",
            "15/5 bob tier = plus",
            "15 ann2 purchases = []",
            "15 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "an earlier period that is told only after the erasure leaves a transfer",
            """
            catalog 1
            app_store/1 buy 5 t1 m 31 account=ann
            app_store/1 ok 1
            @bob customer.transferred 10 from=ann
            @ann customer.erased 20
            app_store/1 buy 1 t0 m 5 account=ann2
            """,
            "3 ann2 purchases = []",
            "15 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "another transaction of the start leaves a transfer",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @bob customer.transferred 10 from=ann
            @ann customer.erased 20
            app_store/1 buy 1~2 t2 coins account=ann2
            """,
            "9 ann2 purchases = []",
            "15 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "an earlier period that is told only after the erasure leaves a claim by hand",
            """
            \(moving)
            app_store/1 buy 10 t1 m 31 account=ann
            app_store/1 ok 1
            @bob claim 5 app_store/1
            @ann customer.erased 20
            app_store/1 buy 1 t0 m 10 account=ann2
            """,
            "15/5 bob purchases = []",
            "15 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "a later period of the erased customer claims nothing anew",
            """
            \(moving)
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @bob claim 10 app_store/1
            app_store/1 renew 31 t2 m 61 account=ann
            @ann customer.erased 40
            app_store/1 buy 1~41 t1 m 31 account=ann2
            """,
            "35 ann purchases = []",
            "35 ann2 purchases = []",
            "35 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "a release stands, and whoever came behind it",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @ann release 20 app_store/1
            app_store/1 renew 31 t2 m 61 account=bob
            @ann customer.erased 40
            app_store/1 buy 1~41 t1 m 31 account=ann2
            """,
            "25 ann2 purchases = []",
            "35 ann2 purchases = []",
            "35 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "whoever is erased again and again is one customer all along",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @bob customer.transferred 10 from=ann
            @ann customer.erased 20
            app_store/1 buy 1~21 t1 m 31 account=ann2
            @ann2 customer.erased 22
            app_store/1 buy 1~23 t1 m 31 account=ann3
            """,
            "15 ann3 purchases = []",
            "15 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "whom an account named before the erasure is somebody else",
            """
            catalog 1
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            app_store/1 renew 31 t2 m 61 account=bob
            @ann customer.erased 40
            app_store/1 buy 1~41 t1 m 31 account=bob
            """,
            "10/5 bob purchases = []",
            "10 bob tier = plus"
        ),
        ModelRow(
            "C1",
            "whom a claim named before the erasure is somebody else",
            """
            \(moving)
            app_store/1 buy 1 t1 m 31 account=ann
            app_store/1 ok 1
            @bob claim 10 app_store/1
            @cy claim 20 app_store/1
            @ann customer.erased 25
            app_store/1 renew 31 t2 m 61 account=bob
            """,
            "25 cy tier = plus",
            "35 cy purchases = []",
            "35 bob tier = plus"
        ),
    ]
}
