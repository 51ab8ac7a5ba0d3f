"""A shop's database and its visitors: reads that commit by themselves, and orders in transactions.

Each visit sends the same statements, so that a test knows how often each was sent, within
transactions and outside.
"""

from collections.abc import Callable, Iterator
from random import Random

PRODUCTS = 500
ORDER_EVERY = 4  # visits
MYSQL = f"""\
CREATE TABLE product (
  id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, category int NOT NULL, title varchar(80) NOT NULL,
  price int NOT NULL, stock int NOT NULL, KEY category (category));
CREATE TABLE customer (
  id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, email varchar(120) NOT NULL,
  UNIQUE KEY email (email));
CREATE TABLE orders (
  id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, customer_id bigint NOT NULL,
  placed datetime NOT NULL, KEY customer (customer_id));
CREATE TABLE order_line (
  id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, order_id bigint NOT NULL,
  product_id bigint NOT NULL, amount int NOT NULL, KEY order_id (order_id));
INSERT INTO product (category, title, price, stock)
  SELECT seq % 20, CONCAT('thing ', seq), seq % 900, 1000000 FROM seq_1_to_{PRODUCTS};
INSERT INTO customer (email)
  SELECT CONCAT('c', seq, '@example.org') FROM seq_1_to_{PRODUCTS}
""".split(";\n")
POSTGRES = f"""\
CREATE TABLE product (
  id bigserial PRIMARY KEY, category int NOT NULL, title varchar(80) NOT NULL,
  price int NOT NULL, stock int NOT NULL);
CREATE INDEX category ON product (category);
CREATE TABLE customer (id bigserial PRIMARY KEY, email varchar(120) NOT NULL UNIQUE);
CREATE TABLE orders (
  id bigserial PRIMARY KEY, customer_id bigint NOT NULL, placed timestamp NOT NULL);
CREATE INDEX customer_orders ON orders (customer_id);
CREATE TABLE order_line (
  id bigserial PRIMARY KEY, order_id bigint NOT NULL, product_id bigint NOT NULL,
  amount int NOT NULL);
CREATE INDEX order_lines ON order_line (order_id);
INSERT INTO product (category, title, price, stock)
  SELECT g % 20, 'thing ' || g, g % 900, 1000000 FROM generate_series(1, {PRODUCTS}) g;
INSERT INTO customer (email)
  SELECT 'c' || g || '@example.org' FROM generate_series(1, {PRODUCTS}) g;
ANALYZE
""".split(";\n")
_PRODUCT = "SELECT title, price FROM product WHERE id = {}"


def visit(send: Callable[[str], object], random: Random, number: int) -> None:
    """Send the statements of one visit: three reads, a list, and in every fourth visit an order."""
    for _ in range(3):
        send(_PRODUCT.format(draw_product(random)))
    send(f"SELECT id, title FROM product WHERE category = {random.randrange(20)} LIMIT 10")
    # in as many visits as there are orders, so that its ratio to the COMMITs fits by chance
    if number % ORDER_EVERY == 1:
        send(f"SELECT id FROM customer WHERE email = 'c{random.randint(1, PRODUCTS)}@example.org'")
    if number % ORDER_EVERY == 0:
        for statement in order(random):
            send(statement)


def order(random: Random) -> Iterator[str]:
    """Yield the statements of an order of two products."""
    yield "BEGIN"
    yield (
        "INSERT INTO orders (customer_id, placed)"
        f" VALUES ({random.randint(1, PRODUCTS)}, '2026-11-27 10:00:00')"
    )
    for _ in range(2):
        product = draw_product(random)
        yield f"UPDATE product SET stock = stock - 1 WHERE id = {product}"
        yield (
            "INSERT INTO order_line (order_id, product_id, amount)"
            f" VALUES ({random.randint(1, PRODUCTS)}, {product}, 1)"
        )
    yield "COMMIT"


def draw_product(random: Random) -> int:
    """Draw a product; the first ones are asked for most."""
    return min(PRODUCTS, int(random.paretovariate(0.3)))
