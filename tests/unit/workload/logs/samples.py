"""Logs as MariaDB 11.4, MySQL 8.4, Percona Server 8.4 and PostgreSQL 18 write them."""

import json

MARIADB_HEAD = """\
/usr/sbin/mariadbd, Version: 11.4.5-MariaDB-log (MariaDB Server). started with:
Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock
Time\t\t    Id Command\tArgument
"""


def slow(session: int, *statements: str, at: int = 1795805965, time_s: float = 0.0001) -> str:
    """A slow log's lines as MariaDB writes them."""
    return "".join(
        "# User@Host: shop[shop] @  [127.0.0.1]\n"
        f"# Thread_id: {session}  Schema: shop  QC_hit: No\n"
        f"# Query_time: {time_s:.6f}  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 2\n"
        "# Rows_affected: 3  Bytes_sent: 11\n"
        f"SET timestamp={at};\n{text};\n"
        for text in statements
    )


MYSQL_SLOW = """\
/usr/sbin/mysqld, Version: 8.4.3 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: /tmp/mysql.sock
Time                 Id Command    Argument
# Time: 2026-11-27T18:59:25.000100Z
# User@Host: shop[shop] @ localhost []  Id:     8
# Query_time: 0.000154  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1
use shop;
SET timestamp=1795805965;
SELECT title FROM product WHERE id = 5;
# Time: 2026-11-27T18:59:26.000100Z
# User@Host: shop[shop] @ localhost []  Id:     8
# Query_time: 0.000100  Lock_time: 0.000002 Rows_sent: 0  Rows_examined: 0
SET timestamp=1795805966;
# administrator command: Quit;
"""
PERCONA_SLOW = """\
# Time: 2026-11-27T18:59:25.000100Z
# User@Host: shop[shop] @ localhost []  Id:     8
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 0.000154  Lock_time: 0.000002  Rows_sent: 1  Rows_examined: 1  Bytes_sent: 68
# Log_slow_rate_type: query  Log_slow_rate_limit: 10
SET timestamp=1795805965;
SELECT title
FROM product -- the one
WHERE id = 5;
"""
MARIADB_GENERAL = MARIADB_HEAD + (
    "261127 18:59:25\t     5 Connect\tshop@127.0.0.1 on shop using TCP/IP\n"
    "\t\t     5 Query\tBEGIN\n"
    "\t\t     5 Query\tSELECT title\nFROM product\nWHERE id = 5\n"
    "261127 18:59:27\t     6 Connect\tshop@127.0.0.1 on other using TCP/IP\n"
    "\t\t     6 Query\tSELECT 1 FROM elsewhere WHERE id = 3\n"
    "\t\t     5 Execute\tUPDATE product SET stock = 3 WHERE id = 5\n"
    "\t\t     5 Query\tCOMMIT\n"
    "\t\t     5 Quit\t\n"
)
MYSQL_GENERAL = (
    "2026-11-27T18:59:25.100000Z\t    5 Connect\tshop@localhost on shop using Socket\n"
    "2026-11-27T18:59:25.200000Z\t    5 Query\tSELECT title FROM product WHERE id = 5\n"
)


def pg_csv(session: str, message: str, detail: str = "", second: int = 38) -> str:
    """A record of PostgreSQL's CSV log."""
    quoted = [text.replace('"', '""') for text in (message, detail)]
    told = f'"{quoted[1]}"' if detail else ""
    return (
        f'2026-11-27 19:05:{second}.854 UTC,"app","shop",13457,"127.0.0.1:43180",{session},7,'
        '"SELECT",'
        f'2026-11-27 19:05:38 UTC,2/6,809,LOG,00000,"{quoted[0]}",{told},,,,,,,,"app",'
        '"client backend",,3958285202059241856\n'
    )


PG_TEXT = """\
2026-11-27 19:06:29.786 UTC [19411] LOG:  duration: 1.719 ms  statement: BEGIN
2026-11-27 19:06:29.787 UTC [19411] LOG:  duration: 0.119 ms  parse <unnamed>: SELECT title
\tFROM product WHERE id = $1
2026-11-27 19:06:29.788 UTC [19411] LOG:  duration: 0.219 ms  execute <unnamed>: SELECT title
\tFROM product WHERE id = $1
2026-11-27 19:06:29.788 UTC [19411] DETAIL:  Parameters: $1 = '5'
2026-11-27 19:06:30.789 UTC [19411] ERROR:  relation "x" does not exist at character 15
2026-11-27 19:06:30.789 UTC [19411] STATEMENT:  SELECT * FROM x
2026-11-27 19:06:31.786 UTC [19411] LOG:  duration: 0.719 ms  statement: COMMIT
"""
RDS_TEXT = (
    "2026-11-27 19:06:29 UTC:10.0.0.7(5001):app@shop:[711]:LOG:  duration: 0.2 ms  statement:"
    " SELECT title FROM product WHERE id = 5\n"
)
PG_PLANS = """\
2026-11-27 19:06:30.454 UTC [19525] LOG:  duration: 0.054 ms  plan:
\tQuery Text: SELECT title FROM product
\tWHERE id = 493
\tIndex Scan using pk on product  (cost=0..8 rows=1 width=13) (actual time=1..2 rows=1.00 loops=1)
\t  Index Cond: (id = 493)
"""
PT_QUERY_DIGEST = json.dumps(
    {
        "classes": [
            {
                "fingerprint": "select title from product where id in(?+)",
                "query_count": 90,
                "ts_min": "2026-11-27 18:59:25",
                "ts_max": "2026-11-27 19:00:25",
                "example": {"query": "SELECT title FROM product WHERE id IN (1, 2, 3)"},
                "metrics": {
                    "db": {"value": "shop"},
                    "Query_time": {"sum": "0.9"},
                    "Rows_sent": {"sum": "270"},
                    "Rows_examined": {"sum": "280"},
                },
            },
            {"fingerprint": "select name from kind where id in(?+)", "query_count": 5},
            {"fingerprint": 7, "query_count": "x"},
        ],
        "global": {"query_count": 100},
    }
)
PG_DUMP = (
    "userid,query,calls,total_exec_time,rows\n"
    '10,"SELECT title\nFROM product WHERE id = $1",70,35.5,70\n'
    '10,"SELECT ""name"" FROM kind WHERE id = $1",0,0,0\n'
)
MYSQL_DUMP = (
    "SCHEMA_NAME\tDIGEST\tDIGEST_TEXT\tCOUNT_STAR\tSUM_TIMER_WAIT\tSUM_ROWS_SENT\n"
    "shop\tab\tSELECT `title` FROM `product` WHERE `id` = ?\t50\t1000000000000\t50\n"
    "NULL\tcd\tSHOW STATUS\t5\t100\tNULL\n"
)
