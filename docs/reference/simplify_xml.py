#!/usr/bin/env python3
"""simplify_xml.py FOLDER: prepares Doxygen's XML for Breathe, which renders a header at a time.

Moves functions, types and variables of namespaces to the header that declares them, under their qualified names. Removes what the pages do
not show, links that lead nowhere, and default values that Sphinx's C++ parser does not know.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

KINDS = {"define": "define", "typedef": "typedef", "enum": "enum", "variable": "var", "function": "func"}


def simplify(text):
    text = re.sub(r"(<(?:initializer|defval|argsstring)>)(.*?)(</)", lambda m: m[1] + re.sub(r"\.\w+ *= *", "", m[2]) + m[3], text)
    return text.replace("local__", "local")  # see filter.sed


def join_overloads(compound):
    """Overloads that differ in their constraints alone are one declaration for Sphinx: the first one gets the descriptions of all."""
    for section in compound.findall("sectiondef"):
        first = {}
        for member in section.findall("memberdef"):
            parameters = ["".join(p.itertext()).strip() for p in member.iterfind("param/type")]
            templates = ["".join(p.itertext()).strip() for p in member.iterfind("templateparamlist/param/type")]
            same = first.setdefault((member.findtext("name"), tuple(parameters), tuple(templates)), member)
            if same is not member and member.get("kind") == "function":
                for name in ("briefdescription", "detaileddescription"):
                    same.find("detaileddescription").extend(member.find(name))
                section.remove(member)


def main():
    folder = Path(sys.argv[1])
    trees = {path: ElementTree.ElementTree(ElementTree.fromstring(simplify(path.read_text(encoding="utf-8"))))
             for path in folder.glob("*.xml") if path.name != "index.xml"}
    files = {}
    for tree in trees.values():
        compound = tree.find("compounddef")
        if compound is not None and compound.get("kind") == "file":
            files[compound.find("location").get("file")] = compound

    shown = set()
    for compound in files.values():
        for name in ("includes", "includedby", "incdepgraph", "invincdepgraph", "innernamespace", "programlisting"):
            for element in compound.findall(name):
                compound.remove(element)
    for tree in trees.values():
        compound = tree.find("compounddef")
        if compound is None:
            continue
        for element in compound.findall("includes"):
            compound.remove(element)
        if compound.get("kind") != "namespace":
            shown.update(m.get("id") for m in compound.iter("memberdef"))
            if compound.get("kind") != "file":
                shown.add(compound.get("id"))
            continue
        space = compound.findtext("compoundname")
        for section in compound.findall("sectiondef"):
            for member in section.findall("memberdef"):
                section.remove(member)
                target = files.get(member.find("location").get("file"))
                if target is None or "detail" in space or "detail::" in member.findtext("definition", ""):
                    continue
                name = member.find("name")
                name.text = f"{space}::{name.text}"
                kind = KINDS.get(member.get("kind"), "func")
                to = next((s for s in target.findall("sectiondef") if s.get("kind") == kind), None)
                if to is None:
                    to = ElementTree.Element("sectiondef", kind=kind)
                    target.insert(1 + sum(s.tag in ("compoundname", "innerclass", "sectiondef") for s in target), to)
                to.append(member)
                shown.add(member.get("id"))
    for compound in files.values():
        join_overloads(compound)
    for path, tree in trees.items():
        for parent in tree.iter():
            for child in parent:
                if child.tag == "ref" and child.get("refid") not in shown:
                    child.tag = "computeroutput" if parent.tag == "para" else "unlinked"
                    child.attrib.clear()
        text = ElementTree.tostring(tree.getroot(), encoding="unicode")
        path.write_text('<?xml version="1.0" encoding="UTF-8"?>\n' + re.sub(r"</?unlinked>", "", text) + "\n", encoding="utf-8")


main()
