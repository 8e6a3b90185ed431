// The rules for the changes of a target: lines that are not compared, and conditions.

import { el, field } from "./dom.js";

const SUBJECTS = [["contains", "Text contains"], ["lacks", "Text lacks"], ["matches", "Text matches pattern"], ["number", "Number in pattern"], ["field", "Field changed"]];
const TEXTS = [["page", "the whole page"], ["added", "added lines"], ["removed", "removed lines"]];
const RANGES = [["above", "Above"], ["below", "Below"], ["changedByPercent", "Changed by %"]];

const select = (options, value) => {
  const input = el("select", {}, ...options.map(([key, text]) => el("option", { value: key }, text)));
  input.value = value;
  return input;
};

/** Returns the fields of the rules of a target, a function that reads them, and their controls, each with its path. */
export function changeRules(target, onChange) {
  const ignored = el("textarea", { rows: 2, spellcheck: "false", placeholder: "^Views: \\d+", value: (target.ignoreLines ?? []).join("\n") });
  const list = el("div");
  const all = [];
  const add = (condition) => {
    const row = conditionFields(condition, () => {
      all.splice(all.indexOf(row), 1);
      row.element.remove();
      addButton.focus();
      onChange();
    });
    all.push(row);
    list.append(row.element);
    return row;
  };
  const addButton = el("button", { type: "button", class: "small", onclick: () => { add({ contains: "" }).first.focus(); onChange(); } }, "Add condition");
  for (const condition of target.conditions ?? []) add(condition);
  const details = el("details", { open: Boolean(target.ignoreLines?.length || target.conditions?.length) }, el("summary", {}, "Rules for changes"),
    field("Lines to ignore", ignored, "Regular expressions, one per line. A line that matches is not compared."),
    el("p", { class: "hint" }, "A change counts only if all conditions hold. Until then, changes add up."), list, addButton);
  return {
    element: details,
    read: () => ({ ignoreLines: ignored.value.split("\n").filter((line) => line.trim()), conditions: all.map((row) => row.read()) }),
    controls: () => [["/ignoreLines", ignored], ["/conditions", addButton], ...all.map((row, index) => [`/conditions/${index}`, row.text])],
  };
}

function conditionFields(condition, onRemove) {
  const [name] = SUBJECTS.find(([key]) => key in condition) ?? SUBJECTS[0];
  const subject = select(SUBJECTS, name);
  const text = el("input", { type: "text", maxlength: 500, spellcheck: "false", autocomplete: "off", value: condition[name] ?? "" });
  const within = select(TEXTS, condition.within ?? "page");
  const numbers = RANGES.map(([key, label]) => [key, label, el("input", { type: "number", step: "any", value: condition[key] ?? "" })]);
  const withinField = field("In", within);
  const numberFields = numbers.map(([, label, input]) => Object.assign(field(label, input), { className: "field short" }));
  const hasNumber = () => ["number", "field"].includes(subject.value);
  const update = () => {
    withinField.hidden = hasNumber();
    for (const element of numberFields) element.hidden = !hasNumber();
  };
  subject.addEventListener("change", update);
  update();
  const remove = el("button", { type: "button", class: "small", onclick: onRemove }, "Remove condition");
  return {
    element: el("fieldset", { class: "row" }, el("legend", {}, "Condition"), field("Condition", subject), field("Words, pattern or path", text), withinField, ...numberFields, remove),
    first: subject,
    text,
    read: () => {
      const read = { [subject.value]: text.value };
      if (!hasNumber() && within.value !== "page") read.within = within.value;
      if (hasNumber()) for (const [key, , input] of numbers) if (input.value !== "") read[key] = Number(input.value);
      return read;
    },
  };
}
