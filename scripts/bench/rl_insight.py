"""RL-Insight's memory parser on a folder, to the table that its page is made of. usage: rl_insight.py FOLDER"""
import sys

from loguru import logger

logger.remove()
from recipe.parser import MemoryClusterParser  # noqa: E402  (its log must be quiet before)

frame = MemoryClusterParser({"input": {"rank_list": "all"}, "rank_list": "all"}).run(sys.argv[1])
print(len(frame), "rows")
