"""The twin's Step Functions alone, on a port of this machine, its calls answered elsewhere.

The first line of standard output says where it listens, the first line of standard input (JSON)
where its states call AWS; the end of standard input ends it.
"""

import json
import os
import sys
import threading
from urllib.parse import urlsplit

from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from plimsoll.local.account import REGION
from plimsoll.local.aws import corrections
from plimsoll.local.aws.front import Front
from plimsoll.local.aws.service_apis import _QuietHandler


def main() -> None:
    """Answer until standard input ends."""
    os.environ.update(
        AWS_ACCESS_KEY_ID="twin",
        AWS_SECRET_ACCESS_KEY="twin",
        AWS_DEFAULT_REGION=REGION,
        AWS_CONFIG_FILE=os.devnull,
        AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    )
    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    corrections.apply()
    server = make_server(
        "127.0.0.1",
        0,
        Front(DomainDispatcherApplication(create_backend_app), {}),
        threaded=True,
        request_handler=_QuietHandler,
    )
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    url = json.loads(sys.stdin.readline())["url"]
    os.environ["MOTO_PORT"] = str(urlsplit(url).port)  # where states call
    sys.stdin.read()
    os._exit(0)  # an execution may still wait in a thread


if __name__ == "__main__":
    main()
