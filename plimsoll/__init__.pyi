from plimsoll.errors import PlimsollError as PlimsollError
from plimsoll.errors import UsageError as UsageError
from plimsoll.library.find import find as find
from plimsoll.library.judge import judge as judge
from plimsoll.library.load import LoadResult as LoadResult
from plimsoll.library.load import Progress as Progress
from plimsoll.library.load import load as load
from plimsoll.library.load import prepare as prepare
from plimsoll.library.results import Result as Result
from plimsoll.library.results import compare as compare
from plimsoll.library.results import read_request as read_request
from plimsoll.library.results import read_result as read_result
from plimsoll.model.judging.capacity import Capacity as Capacity
from plimsoll.model.request.request import Request as Request
from plimsoll.report.comparing.comparing import Comparison as Comparison

__version__: str
