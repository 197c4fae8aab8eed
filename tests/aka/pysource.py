# SPDX-License-Identifier: Apache-2.0
"""Files of Python as proctor cuts them, beside Python's own ast: see pysource.sh."""
import ast
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

import yaml

warnings.simplefilter("ignore")
root = pathlib.Path(sys.argv[1])
program = sys.argv[2]
cases, seed = int(sys.argv[3]), int(sys.argv[4])
sys.path.insert(0, str(root))
from src.evaluator_utils import inspect_target_definitions  # noqa: E402

count = failed = 0


def report(name, wrong, note=""):
    global count, failed
    count += 1
    failed += bool(wrong)
    print(f"{'not ok' if wrong else 'ok'} {count} - {name}")
    if note:
        print(f"# {note}")
    for text in list(wrong)[:10]:
        print(f"#   {text}")


def dotted(node):
    called = isinstance(node, ast.Call)
    parts = []
    node = node.func if called else node
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not all(part.isascii() for part in parts + [node.id]):
        return "?"
    return ".".join([node.id] + parts)


def blocks_of(tree):
    """What has to come out: one row a statement, and simple ones that share a line are one."""
    rows, kinds = [], {ast.FunctionDef: "def", ast.AsyncFunctionDef: "async", ast.ClassDef: "class"}
    for node in tree.body:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno] + [d.lineno for d in decorators])
        if rows and rows[-1][2] >= first:
            rows[-1][2] = node.end_lineno
            continue
        kind = kinds.get(type(node), "other")
        rows.append([kind, first, node.end_lineno, getattr(node, "name", "-") if kind != "other" else "-",
                     *map(dotted, decorators)])
    return rows


def split(paths):
    """By path: the rows, or the error."""
    made, at = {}, None
    for part in [paths[i:i + 500] for i in range(0, len(paths), 500)]:
        text = subprocess.run([program, "split", *map(str, part)], stdout=subprocess.PIPE, check=True).stdout
        for line in text.decode("utf-8", "surrogateescape").split("\n"):
            words = line.split(" ")
            if words[0] == "F":
                at = made[line[2:]] = []
            elif words[0] == "E":
                made[list(made)[-1]] = line
            elif words[0] == "B":
                at.append([words[1], int(words[3]), int(words[4]), words[2], *words[5:]])
    return made


def check_tree():
    paths = sorted(root.rglob("*.py"))
    made, wrong, blocks, refused = split(paths), [], 0, 0
    for path in paths:
        try:
            want = blocks_of(ast.parse(path.read_bytes()))
        except (SyntaxError, ValueError):
            refused += 1
            continue
        blocks += len(want)
        if made[str(path)] != want:
            wrong.append(f"{path}: {made[str(path)]} and not {want}"[:600])
    report("every file of the tree is cut as Python cuts it", wrong,
           f"{len(paths)} files, {blocks} blocks, {refused} that Python refuses")


pieces = [
    "x = 1", "x = 1; y = 2;", "import a", "from b import (c,\n  d)", "def f(): pass", "def f(a,\n b=')'):\n    return a",
    "async def g():\n\tawait h\n\n\t# c", "class C(B):\n    x = '''\ndef no(): pass\n'''\n    def m(self): pass",
    "@a\ndef f(): pass", "@a.b(c, d=')')\n# e\n@f\nasync def g(): pass", "@a\n\n@triton.jit\nclass D:\n  pass",
    "if a:\n  b\nelif c: d\nelse:\n  e", "try:\n  a\nexcept B:\n  c\nfinally: d", "for a in b: c\nelse: d",
    "while a:\n  def n():\n    pass\nelse:\n  b", "with a as b, c: d", "'doc'", "'''a\n'b' \"c\"\n'''", 'r"\\"', "b'\\'#'",
    "rb'''\\\n'''", "f'{a}{b!r:>{c}}{{}}'", 'f"""\n{a}\n{{ {b["c"]:x} }}"""', "f'{a:{b}{c}}' 'd' \"e\"", "rf'\\{a}\\d{{'",
    "f'\\N{DASH}{a}' f'{a=}'", "x = [\n1, # ]\n2]", "x = {\n'a': (1,\n)\n}", "a = b \\\n  + c", "a = 1 # c \\", "lambda: (yield)",
    "x = 'a\\\nb'", "if x:\n  '''\nelse:\n'''\n  y", "x = 1if y else 2", "x: int = 3", "é = 1", "def é(): pass",
    "assert (a,\n\n b), 'c'", "print(f'{x:%H:%M}', end='')", "x = a if b else c", "del x", "@a\nclass E: x = 1; y = 2",
    "x = f'{a}' 'b{' rb'}'[0]", "x = '\\\\'", "x = \"\"", "x = '''' '''", "x = 0xfor 1", "else_ = 1", "definitely = 2",
    "def f():\n  '''d'''\n  if a:\n      b\n  else:\n    c\n\n\n  return", "def f(\n\n): pass",
    'f"{a["b"]}"', 'f"{a + "}" + "{"}"', "f'{\na # b\n}'", 'f"{f"{f"{1}"}"}"', "f'{x!r:{'>'}{10}}'", "f'{lambda x: 1}'",
    "f'''{a:\n}'''", 'f"""{ """\nb = 1\n""" }"""',
]
between = ["\n", "\n", "\n", "\n\n", "\n# c '\n", "\n\f\n", "\n  # d\n", "\n\f", "\n\t\n", "\r\n", "\r", "; "]
signs = list("'\"#\\\n\r\t\f ()[]{}:;@!=,.fFrRbBuUN0e_") + ["'''", '"""', "f'", 'f"""', "else:\n", "def ", "\\\n", "{a}", "é", "\n  "]


def make_text(chance, texts):
    if chance.random() < 0.3:
        text = chance.choice(texts)
        start = chance.randrange(len(text) + 1)
        text = text[text.rfind("\n", 0, start) + 1:start + chance.randrange(600)]
    else:
        text = "".join(chance.choice(pieces) + chance.choice(between) for _ in range(chance.randrange(1, 7)))
    for _ in range(chance.choice([0, 0, 0, 1, 1, 2, 5])):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(signs) + text[at + chance.choice([0, 0, 1]):]
    return text


def is_left_out(error):
    """What no Python of ours is cut with, though some read it."""
    return any(part in error for part in ("begins with a continued line", "an f-string is not closed on its line",
                                          "a character's name in"))


def ends_alike(got, want, text):
    """A backslash at the end of a statement takes in a line that is not there for ast."""
    return len(got) == len(want) and all(
        one[:2] == other[:2] and one[3:] == other[3:] and one[2] >= other[2] for one, other in zip(got, want)
    ) and "\\" in text


def check_random():
    chance, wrong, read, odd = random.Random(seed), [], 0, 0
    texts = [path.read_text("utf-8") for path in sorted(root.rglob("*.py")) if path.stat().st_size < 100000]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i in range(cases):
            paths.append(pathlib.Path(folder, f"{i}.py"))
            paths[-1].write_bytes(make_text(chance, texts).encode("utf-8"))
        made = split(paths)
        for path in paths:
            text = path.read_bytes()
            try:
                want = blocks_of(ast.parse(text))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            read += 1
            got = made[str(path)]
            if isinstance(got, str) and is_left_out(got):
                odd += 1
            elif got != want and not (isinstance(got, list) and ends_alike(got, want, text.decode("utf-8"))):
                wrong.append(f"{text!r}: {got} and not {want}")
    report("texts made up at random that Python reads are cut as it cuts them", wrong,
           f"{cases} texts of seed {seed}, {read} that Python reads, {odd} of them refused on purpose")


def colocated():
    for config in sorted(root.glob("tasks/**/config.yaml")):
        task = yaml.safe_load(config.read_text("utf-8"))
        words = task["correctness_command"][0].split()
        files = [word for word in words if word.endswith(".py")]
        if words[0] == "pytest" and files:
            names = [n for t in task["target_kernel_functions"] for n in t.replace(" ", "").split(",")]
            yield config.parent / files[0], names


def carry(given, left, names):
    ran = subprocess.run([program, "carry", str(given), str(left), ",".join(names)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    return ran.stdout, ran.stderr.decode("utf-8").splitlines(), ran.returncode


def is_kernel(node):
    return isinstance(node, ast.FunctionDef) and any(dotted(d) == "triton.jit" for d in node.decorator_list)


def definitions(tree):
    return {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def cheat(text, names):
    """An agent's file: another body in all kernels, a new one, tests and imports gone."""
    tree = ast.parse(text)
    for node in tree.body:
        if is_kernel(node):
            node.body = [ast.parse("changed_by_the_agent()").body[0]]
        elif isinstance(node, ast.FunctionDef):
            node.body = [ast.Pass()]
            node.decorator_list = []
    tree.body = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    new = ast.parse("@triton.jit\ndef new_of_the_agent(x): return x\ndef conftest_like(): pass\nTOLERANCE = 1e9\n")
    tree.body = new.body + tree.body
    return ast.unparse(tree).encode("utf-8")


def expected(text, names):
    """The pristine statements with the cheat's kernels in them, as ast writes them."""
    tree = ast.parse(text)
    for node in tree.body:
        if is_kernel(node):
            node.body = [ast.parse("changed_by_the_agent()").body[0]]
    return [ast.unparse(node) for node in tree.body]


def check_colocated():
    same, changed, tasks = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        agents = pathlib.Path(folder, "agents.py")
        for path, names in colocated():
            text = path.read_bytes()
            tasks += 1
            out, told, status = carry(path, path, names)
            if out != text or told or status:
                same.append(f"{path}: {status} {told}")
            if not hasattr(ast, "unparse"):
                continue
            agents.write_bytes(cheat(text, names))
            out, told, status = carry(path, agents, names)
            got = [ast.unparse(node) for node in ast.parse(out).body]
            new = [one for one in got if one.endswith("def new_of_the_agent(x):\n    return x")]
            got = [one for one in got if one not in new]
            if got != expected(text, names) or len(new) != 1 or "idle conftest_like" not in told:
                changed.append(f"{path}: {status} {told}")
    report("colocated files carried over themselves are the same bytes", same, f"{tasks} tasks")
    report("of changed ones the kernels are carried over, and nothing else", changed, f"{tasks} tasks")


stub_lines = [
    "'''doc'''", "r'doc'", "('a' 'b')", "b'doc'", "f'doc'", "('a',)", "'a' + 'b'", "pass", "pass; pass;", "...", "return 1",
    "raise NotImplementedError", "raise NotImplementedError('x')", "raise NotImplementedError(x for x in y)",
    "raise builtins.NotImplementedError('x') from None", "raise (builtins).NotImplementedError", "raise (NotImplementedError)",
    "raise (NotImplementedError('x'))", "raise (NotImplementedError)('x')", "raise NotImplementedError('x').with_traceback(e)",
    "raise NotImplementedError()()", "raise NotImplementedError if a else b", "raise (NotImplementedError,)", "raise",
    "raise other.NotImplementedError", "raise RuntimeError", "raise NotImplementedError or x", "raise (x := NotImplementedError)",
    "raise builtins.NotImplementedError.x", "raise NotImplementedError[0]", "raise NotImplementedError(\n'x'\n)",
    "if a:\n        raise NotImplementedError", "def n():\n        raise NotImplementedError", "# c", "x = ';'; pass",
]
stub_heads = ["def target():", "async def target():", "def target(a: {1: 2} = (lambda: 3), *b) -> lambda: 4:", "def target(\n):",
              "@a\n@b(lambda: 1)\ndef target():", "class target:", "def other():", "if a:\n  def target(): pass\ndef other():"]


def stub_files(chance):
    files = []
    for _ in range(chance.choice([1, 1, 2])):
        parts = []
        for _ in range(chance.randrange(1, 4)):
            lines = [chance.choice(stub_lines) for _ in range(chance.choice([1, 1, 2, 2, 3, 4]))]
            parts.append(chance.choice(stub_heads) + "\n" + "".join(f"    {line}\n" for line in lines + ["pass"][:chance.randrange(2)]))
        for name in ("builder", "Late"):
            if chance.random() < 0.7:
                parts.append(f"def {name}(): {chance.choice(['pass', 'raise NotImplementedError', 'return 1'])}\n")
        if chance.random() < 0.1:
            parts.append(chance.choice(["target = 1\n", "'", "def f(:\n", "\ufeff", "\r\n", "# coding: utf-7\n"]))
        files.append("".join(chance.sample(parts, len(parts))).encode("utf-8"))
        if chance.random() < 0.05:
            files[-1] = chance.choice([b"\xef\xbb\xbf", b"# \xff\n"]) + files[-1]
    return files


def is_python(text):
    try:
        return ast.parse(text.decode("utf-8")) is not None
    except (SyntaxError, UnicodeError):
        return False


def is_refused(path):
    """Not UTF-8, a mark of the byte order, or not to be cut."""
    text = path.read_bytes()
    try:
        return text.decode("utf-8").startswith("\ufeff") or isinstance(split([path])[str(path)], str)
    except UnicodeError:
        return True


def theirs(folder, config):
    missing, stubs = inspect_target_definitions(folder, config)
    errors = []
    if missing:
        errors.append("missing declared top-level target definition(s): " + ", ".join(missing))
    if stubs:
        errors.append("unimplemented target stub(s): " + ", ".join(stubs))
    return "Invalid torch2flydsl optimization submission: " + "; ".join(errors) if errors else ""


def ours(folder, config):
    ran = subprocess.run([program, "stub", ",".join(config["target_kernel_functions"]), *config["source_file_path"]],
                         stdout=subprocess.PIPE, cwd=folder, check=True)
    return ran.stdout.decode("utf-8")


def check_stubs():
    wrong, stubs, tasks = [], 0, 0
    for config in sorted(root.glob("tasks/torch2flydsl/**/config.yaml")):
        task = yaml.safe_load(config.read_text("utf-8"))
        want = theirs(config.parent, task)
        tasks += 1
        stubs += "unimplemented" in want
        if ours(config.parent, task) != want:
            wrong.append(f"{config}: '{ours(config.parent, task)}' and not '{want}'")
    report("tasks of torch2flydsl are stubs as its own guard says", wrong, f"{tasks} tasks, {stubs} of them stubs")
    chance, wrong, said, unseen = random.Random(seed), [], {}, 0
    names = {"target_kernel_functions": ["target", "builder", "Late", "target"]}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(cases):
            texts = stub_files(chance)
            paths = [f"f{i}.py" for i in range(len(texts))]
            for path, text in zip(paths, texts):
                pathlib.Path(folder, path).write_bytes(text)
            if any(not is_python(text) and not is_refused(pathlib.Path(folder, path)) for path, text in zip(paths, texts)):
                unseen += 1
                continue
            config = dict(names, source_file_path=paths + ["none.py"])
            want, got = theirs(pathlib.Path(folder), config), ours(folder, config)
            said[want] = said.get(want, 0) + 1
            if want != got:
                wrong.append(f"{texts}: '{got}' and not '{want}'")
    report("so are functions made up at random", wrong, f"{cases} of seed {seed}, {len(said)} different verdicts; "
           f"{unseen} left out: an error of syntax that only a parser sees")


check_tree()
check_random()
check_colocated()
check_stubs()
print(f"1..{count}")
sys.exit(1 if failed else 0)
