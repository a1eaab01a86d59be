"""XProf's two memory tools on a copy of a capture, beside which it writes files. usage: xprof_memory.py FILE.xplane.pb

Its list of tools comes first, as in its page: that is what takes the plans out of the file. Then the memory profile, and the memory viewer on
the largest plan.
"""
import os
import shutil
import sys
import tempfile

from xprof.convert import raw_to_tool_data as convert

with tempfile.TemporaryDirectory() as folder:
    run = os.path.join(folder, "plugins/profile/run")
    os.makedirs(run)
    capture = shutil.copy(sys.argv[1], run)
    convert.xspace_to_tool_names([capture])
    plans = [name for name in os.listdir(run) if name.endswith(".hlo_proto.pb")]
    plan = max(plans, key=lambda name: os.path.getsize(os.path.join(run, name)))[: -len(".hlo_proto.pb")]
    profile, _ = convert.xspace_to_tool_data([capture], "memory_profile", {"tag": "memory_profile", "tool": "memory_profile"})
    host = os.path.basename(capture)[: -len(".xplane.pb")]
    options = {"tag": "memory_viewer", "tool": "memory_viewer", "module_name": plan, "memory_space": "0", "graph_viewer_options": {}, "host": host}
    viewer, _ = convert.xspace_to_tool_data([capture], "memory_viewer", options)
    assert profile and viewer, "it gave nothing"
    print(len(profile), len(viewer))
