/// The tables and functions of a cluster in PostgreSQL, by the name of their schema.
package struct JournalSchema: Sendable, Hashable {
    /// The schema.
    package let name: String

    /// What this program writes; a higher one is refused.
    package static let format: Int64 = 1
    /// The schema where none is named.
    package static let usualName = "entitlement_ledger"
    /// PostgreSQL's longest name.
    private static let nameLimit = 63

    /// Takes a name of lower-case letters, digits and `_`, which needs no quotes in any statement; nil for
    /// any other.
    package init?(_ name: String = Self.usualName) {
        let isWord = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "_")
        }
        guard isWord, let first = name.utf8.first, !(0x30...0x39).contains(first),
            name.utf8.count <= Self.nameLimit, !name.hasPrefix("pg_")
        else { return nil }
        self.name = name
    }

    /// SQLSTATE of what the functions raise themselves.
    enum Raised: String {
        case deposed = "EL001"
        case moved = "EL002"
        case notSynchronous = "EL003"
        case damaged = "EL004"
    }

    /// Makes everything in the schema, in a transaction that the caller begins and ends.
    var creation: [String] { tables + functions }

    /// Removes it in the same way; the schema stays, and whose it is.
    var removal: [String] {
        let tables = ["ledger", "batch", "vault_item", "vault_keys", "checkpoint", "held", "node"]
            .map { "\(name).\($0)" }
        return [
            // With its table the row goes, and with the row whatever returns it.
            "DROP TABLE IF EXISTS \(tables.joined(separator: ", ")) CASCADE",
            "DROP FUNCTION IF EXISTS \(name).require_synchronous()",
        ]
    }

    private var tables: [String] {
        [
            """
            CREATE TABLE \(name).ledger (
              one boolean PRIMARY KEY DEFAULT true CHECK (one),
              format bigint NOT NULL, manifest text NOT NULL, allows_asynchronous boolean NOT NULL,
              size bigint NOT NULL, root bytea NOT NULL,
              last_recorded bigint NOT NULL, highest_counter bigint NOT NULL,
              vault_position bigint NOT NULL, generation bigint NOT NULL,
              streams bigint NOT NULL,
              confirmed_size bigint NOT NULL, confirmed_root bytea NOT NULL,
              term bigint NOT NULL, beat bigint NOT NULL,
              leader bytea NOT NULL, node text NOT NULL, address text NOT NULL
            ) WITH (fillfactor = 50)
            """,
            """
            CREATE TABLE \(name).batch (
              first bigint PRIMARY KEY, count bigint NOT NULL, root bytea NOT NULL,
              vault_position bigint NOT NULL, bytes bytea NOT NULL
            )
            """,
            // Sealed and packed: PostgreSQL makes nothing of it smaller.
            "ALTER TABLE \(name).batch ALTER COLUMN bytes SET STORAGE EXTERNAL",
            """
            CREATE TABLE \(name).vault_item (
              position bigint PRIMARY KEY, stream bigint NOT NULL, bytes bytea NOT NULL,
              generation bigint NOT NULL DEFAULT 0
            )
            """,
            // What an erasure sealed anew, for who has the keys of before; a new stream costs nothing by it.
            """
            CREATE INDEX vault_item_generation ON \(name).vault_item (generation)
            WHERE generation > 0
            """,
            """
            CREATE TABLE \(name).vault_keys (
              one boolean PRIMARY KEY DEFAULT true CHECK (one),
              generation bigint NOT NULL, bytes bytea NOT NULL
            )
            """,
            "CREATE TABLE \(name).checkpoint (size bigint PRIMARY KEY, note text NOT NULL)",
            """
            CREATE TABLE \(name).held (
              kind text, id bytea, bytes bytea NOT NULL, PRIMARY KEY (kind, id)
            )
            """,
            """
            CREATE TABLE \(name).node (
              name text PRIMARY KEY, address text NOT NULL, size bigint NOT NULL,
              generation bigint NOT NULL, seen timestamptz NOT NULL DEFAULT now()
            )
            """,
        ]
    }

    private var functions: [String] { [synchronous, row, append, rotate, renew, take] }

    /// Has the transaction commit when a standby has flushed it.
    ///
    /// A role's or a pooler's `off` does not count. Without a standby nothing is written (Several machines).
    private var synchronous: String {
        """
        CREATE FUNCTION \(name).require_synchronous() RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
          \(synchronously)
        END $$
        """
    }

    /// The same within an append, which a call of its own would cost a tenth of what it takes.
    private var synchronously: String {
        """
        SET LOCAL synchronous_commit = on;
          IF btrim(current_setting('synchronous_standby_names')) = '' THEN
            IF NOT (SELECT l.allows_asynchronous FROM \(name).ledger l) THEN
              RAISE EXCEPTION 'no synchronous standby is named' USING ERRCODE = 'EL003';
            END IF;
          END IF;
        """
    }

    /// The row's columns, in the order in which they are read.
    private static let columns = [
        "size", "root", "last_recorded", "highest_counter", "vault_position", "generation",
        "confirmed_size", "confirmed_root", "term", "beat", "leader", "node", "address", "format",
    ]

    /// The row, as every function returns it.
    private var row: String {
        "CREATE VIEW \(name).row AS SELECT \(Self.columns.joined(separator: ", ")) FROM \(name).ledger"
    }

    /// Ends a statement that changes the row as `l`.
    var returned: String {
        "RETURNING " + Self.columns.map { "l." + $0 }.joined(separator: ", ")
    }

    /// Begins a statement that is no function's, and takes part in it as `waits`.
    var waiting: String {
        "WITH waits AS MATERIALIZED (SELECT \(name).require_synchronous())"
    }

    /// The same of a statement that is made again and again where it fails.
    ///
    /// Whoever holds the lock that it needs may wait for a standby that is away: each attempt would leave a
    /// connection behind that waits with it, up to the database's limit.
    var waitingBriefly: String {
        """
        WITH brief AS MATERIALIZED (SELECT \(Self.lockLimit)),
          waits AS MATERIALIZED (SELECT \(name).require_synchronous() FROM brief)
        """
    }

    /// Has a transaction, and nothing behind it, wait so many milliseconds for each lock.
    ///
    /// A row is waited for twice: first for who waits for it as well, then for who holds it; both are over before
    /// the call is given up.
    static let lockLimit = "set_config('lock_timeout', '3000', true)"

    /// Asks behind a commit whether a standby is named yet, or none need be.
    var isSynchronous: PostgresConnection.StaticText {
        PostgresConnection.StaticText(
            "is_synchronous",
            """
            SELECT btrim(current_setting('synchronous_standby_names')) <> ''
              OR allows_asynchronous FROM \(name).ledger
            """
        )
    }

    /// Whether the row is what a change was decided on: the fence.
    private var isKnown: String {
        """
        l.term = for_term AND l.leader = for_leader
          AND l.size = known_size AND l.root = known_root
          AND l.vault_position = known_position AND l.generation = known_generation
        """
    }

    /// Says why the row is not.
    private var refusal: String {
        """
        IF NOT FOUND THEN
          SELECT l.term = for_term AND l.leader = for_leader INTO is_led FROM \(name).ledger l;
          IF is_led THEN
            RAISE EXCEPTION 'the cluster is not where the change saw it' USING ERRCODE = 'EL002';
          END IF;
          RAISE EXCEPTION 'another node leads' USING ERRCODE = 'EL001';
        END IF;
        """
    }

    /// One commit: the fence, then the vault's items, then the batch.
    ///
    /// The row's lock stands until the standby has confirmed; places are dense by construction.
    private var append: String {
        """
        CREATE FUNCTION \(name).append(
          for_term bigint, for_leader bytea, known_size bigint, known_root bytea,
          known_position bigint, known_generation bigint,
          batch_first bigint, batch_count bigint, batch_root bytea, recorded bigint, counter bigint,
          batch_bytes bytea, item_streams bigint[], item_bytes bytea[]
        ) RETURNS SETOF \(name).row LANGUAGE plpgsql AS $$
        DECLARE
          items bigint := cardinality(item_bytes);
          is_led boolean;
        BEGIN
          \(synchronously)
          RETURN QUERY UPDATE \(name).ledger l SET
            size = l.size + batch_count, root = batch_root, last_recorded = recorded,
            highest_counter = counter, vault_position = l.vault_position + items,
            streams = l.streams + items,
            confirmed_size = known_size, confirmed_root = known_root, beat = l.beat + 1
          WHERE \(isKnown)
            AND batch_first = l.size AND batch_count > 0
            AND recorded >= l.last_recorded AND counter >= l.highest_counter
            AND cardinality(item_streams) = items
          \(returned);
          \(refusal)
          IF items > 0 THEN
            INSERT INTO \(name).vault_item
              SELECT known_position + n - 1, s, b
              FROM unnest(item_streams, item_bytes) WITH ORDINALITY AS new(s, b, n);
          END IF;
          INSERT INTO \(name).batch VALUES
            (batch_first, batch_count, batch_root, known_position + items, batch_bytes);
        END $$
        """
    }

    /// Other keys, and what is sealed under them anew at its place; under the fence of an append
    /// (Several machines).
    private var rotate: String {
        """
        CREATE FUNCTION \(name).rotate(
          for_term bigint, for_leader bytea, known_size bigint, known_root bytea,
          known_position bigint, known_generation bigint,
          new_keys bytea, item_positions bigint[], item_streams bigint[], item_bytes bytea[]
        ) RETURNS SETOF \(name).row LANGUAGE plpgsql AS $$
        DECLARE
          changed bigint;
          is_led boolean;
        BEGIN
          PERFORM \(name).require_synchronous();
          RETURN QUERY UPDATE \(name).ledger l SET generation = l.generation + 1,
            confirmed_size = known_size, confirmed_root = known_root, beat = l.beat + 1
          WHERE \(isKnown)
          \(returned);
          \(refusal)
          UPDATE \(name).vault_keys SET generation = known_generation + 1, bytes = new_keys;
          UPDATE \(name).vault_item v SET bytes = new.b, generation = known_generation + 1
          FROM unnest(item_positions, item_streams, item_bytes) AS new(p, s, b)
          WHERE v.position = new.p AND v.stream = new.s;
          GET DIAGNOSTICS changed = ROW_COUNT;
          IF changed <> cardinality(item_bytes) THEN
            RAISE EXCEPTION 'an item of the vault is not at its place' USING ERRCODE = 'EL004';
          END IF;
        END $$
        """
    }

    /// Waits for whoever holds the row's lock: what it returns is what became of them (Several machines).
    ///
    /// A database that was restored to less than was confirmed has no leader.
    private var renew: String {
        """
        CREATE FUNCTION \(name).renew(
          for_term bigint, for_leader bytea, new_leader bytea,
          told_size bigint, told_root bytea
        ) RETURNS SETOF \(name).row LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM \(name).require_synchronous();
          RETURN QUERY UPDATE \(name).ledger l SET leader = new_leader, beat = l.beat + 1,
            confirmed_size = greatest(l.confirmed_size, told_size),
            confirmed_root =
              CASE WHEN told_size > l.confirmed_size THEN told_root ELSE l.confirmed_root END
          WHERE l.term = for_term AND l.leader = for_leader AND l.size >= told_size
          \(returned);
          IF NOT FOUND THEN
            RAISE EXCEPTION 'another node leads' USING ERRCODE = 'EL001';
          END IF;
        END $$
        """
    }

    /// Who saw term and beat stand still leads in the next term (Several machines).
    private var take: String {
        """
        CREATE FUNCTION \(name).take(
          seen_term bigint, seen_beat bigint, new_leader bytea, new_node text, new_address text
        ) RETURNS SETOF \(name).row LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM \(name).require_synchronous();
          RETURN QUERY UPDATE \(name).ledger l SET term = l.term + 1, beat = l.beat + 1,
            leader = new_leader, node = new_node, address = new_address
          WHERE l.term = seen_term AND l.beat = seen_beat
          \(returned);
          IF NOT FOUND THEN
            RAISE EXCEPTION 'another node leads' USING ERRCODE = 'EL001';
          END IF;
        END $$
        """
    }
}
