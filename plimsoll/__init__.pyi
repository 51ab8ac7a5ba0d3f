from plimsoll.errors import PlimsollError as PlimsollError
from plimsoll.errors import UsageError as UsageError
from plimsoll.face.finding import find as find
from plimsoll.face.judging import judge as judge
from plimsoll.face.loading import LoadResult as LoadResult
from plimsoll.face.loading import load as load
from plimsoll.face.preparing import prepare as prepare
from plimsoll.face.progress import Progress as Progress
from plimsoll.face.requests import read_request as read_request
from plimsoll.face.results import Result as Result
from plimsoll.face.results import compare as compare
from plimsoll.face.results import read_result as read_result
from plimsoll.model.capacity import Capacity as Capacity
from plimsoll.model.request import Request as Request
from plimsoll.report.comparing import Comparison as Comparison

__version__: str
