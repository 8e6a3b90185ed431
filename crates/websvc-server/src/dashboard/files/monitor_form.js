// The form that creates and changes a monitor.

import { request } from "./api.js";
import { checkboxGroup, countText, el, field, formatCount, setNotice, showError } from "./dom.js";
import { InputError, linesOf, targetFields } from "./monitor_target.js";
import { apiPath, formatRelative, formatZoned, monitorPath, setHeading } from "./monitor_text.js";

/** Time without a change of the form after which the schedule is read. */
const PREVIEW_DELAY_MS = 300;

const EVENTS = ["monitor.page", "monitor.check.completed"];
const SCHEDULES = ["every 30 minutes", "hourly", "every 6 hours", "every day at 9:00", "every weekday at 8:30 am", "every monday at 9:00", "monthly"];

/** Shows the form of a new monitor. */
export function newMonitor(container) {
  setHeading(container, "New monitor", [["Monitors", "#/monitors"]]);
  return showForm(container, null);
}

/** Shows the form of a stored monitor. */
export async function editMonitor(container, id) {
  const { data: monitor } = await request("GET", apiPath(id));
  setHeading(container, `Edit ${monitor.name}`, [["Monitors", "#/monitors"], [monitor.name, monitorPath(id)]]);
  return showForm(container, monitor);
}

function showForm(container, monitor) {
  const name = el("input", { type: "text", required: true, maxlength: 256, autocomplete: "off", value: monitor?.name ?? "", dir: "auto" });
  const targets = targetList(monitor?.targets ?? [{ type: "scrape" }], () => preview());
  const schedule = scheduleFields(monitor?.schedule);
  const judge = judgeFields(monitor);
  const notification = notificationFields(monitor);
  const retention = el("input", { type: "number", min: 1, max: 365, step: 1, value: monitor?.retentionDays ?? 30 });
  const estimate = el("p", { class: "estimate" });
  const controls = () => [["/name", name], ...targets.controls(), ...schedule.controls(), ...judge.controls, ...notification.controls, ["/retentionDays", retention]];
  const read = () => ({
    name: name.value, schedule: schedule.read(), targets: targets.read(), retentionDays: retention.value === "" ? undefined : Number(retention.value),
    ...judge.read(), ...notification.read(),
  });
  const preview = previewer(schedule, estimate, () => {
    // While the other fields cannot be read, the schedule can.
    try { return requestOf(read()); } catch (error) { if (error instanceof InputError) return { schedule: schedule.read() }; throw error; }
  });
  const submit = el("button", { class: "main" }, monitor ? "Save" : "Create");
  const form = el("form", { novalidate: true, oninput: () => preview(), onsubmit: (event) => {
    event.preventDefault();
    save(monitor, read, controls, submit);
  } },
  el("section", { class: "card", "aria-label": "Monitor" }, field("Name", name)),
  targets.element,
  el("section", { class: "card", "aria-label": "Schedule" }, el("h2", {}, "Schedule"), schedule.element),
  el("section", { class: "card", "aria-label": "Judge" }, el("h2", {}, "Judge"), judge.element),
  el("section", { class: "card", "aria-label": "Notifications" }, el("h2", {}, "Notifications"), notification.element),
  el("section", { class: "card", "aria-label": "History and credits" }, el("h2", {}, "History and credits"), Object.assign(field("Retention in days", retention, "Checks with their changes are deleted later."), { className: "field half" }), estimate),
  el("div", { class: "buttons" }, submit, el("a", { class: "button", href: monitor ? monitorPath(monitor.id) : "#/monitors" }, "Cancel")));
  container.append(form);
  preview();
  name.focus();
  return preview.stop;
}

/** Sends the form, and opens the page of the monitor. */
async function save(monitor, read, controls, submit) {
  for (const [, input] of controls()) showFieldError(input, "");
  let body;
  try {
    body = read();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    showError(error.message);
    showFieldError(error.input, error.message);
    moveFocus(error.input);
    return;
  }
  submit.disabled = true;
  try {
    const { data, warning } = await request(monitor ? "PATCH" : "POST", monitor ? apiPath(monitor.id) : "/v2/monitor", monitor ? changeOf(body) : requestOf(body));
    setNotice(`Monitor ${data.name} was ${monitor ? "changed" : "created"}${warning ? `. Warning: ${warning}` : ""}`);
    location.hash = monitorPath(data.id);
  } catch (error) {
    const violations = error.body?.details ?? [];
    const unassigned = showViolations(violations, controls());
    showError(violations.length && !unassigned.length ? "The monitor was not saved: see the fields below" : error.message);
  }
  submit.disabled = false;
}

/** Returns the body that creates a monitor. */
const requestOf = (body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== null));

/** Returns the body that changes a monitor: null removes a field. */
const changeOf = (body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));

/**
 * Shows each violation at the control with the longest path that contains it, and moves the focus to the first one. Returns
 * the violations that belong to no control.
 */
export function showViolations(violations, controls) {
  const messages = new Map();
  const unassigned = [];
  for (const { path, message } of violations) {
    const [found] = controls.filter(([prefix]) => path === prefix || path.startsWith(`${prefix}/`)).sort(([a], [b]) => b.length - a.length);
    if (!found) unassigned.push(message);
    else messages.set(found[1], [...(messages.get(found[1]) ?? []), message]);
  }
  for (const [input, texts] of messages) showFieldError(input, texts.join("; "));
  const first = controls.map(([, input]) => input).find((input) => messages.has(input));
  if (first) moveFocus(first);
  return unassigned;
}

function moveFocus(input) {
  const details = input.closest("details");
  if (details) details.open = true;
  input.focus();
}

/** Shows an error below an input, or removes it. */
export function showFieldError(input, text) {
  const id = `${input.id}-error`;
  const described = (input.getAttribute("aria-describedby") ?? "").split(" ").filter((other) => other && other !== id);
  document.getElementById(id)?.remove();
  if (text) {
    input.after(el("p", { class: "field-error", id }, text));
    described.unshift(id);
    input.setAttribute("aria-invalid", "true");
  } else {
    input.removeAttribute("aria-invalid");
  }
  if (described.length) input.setAttribute("aria-describedby", described.join(" "));
  else input.removeAttribute("aria-describedby");
}

/** Returns the targets: their element, a function that reads them, and their controls. */
function targetList(initial, onChange) {
  const list = el("div");
  const all = [];
  const update = () => { for (const target of all) target.remove.hidden = all.length === 1; };
  const add = (target) => {
    const fields = targetFields(target, () => {
      all.splice(all.indexOf(fields), 1);
      fields.element.remove();
      update();
      addButton.focus();
      onChange();
    }, onChange);
    all.push(fields);
    list.append(fields.element);
    update();
    return fields;
  };
  const addButton = el("button", { type: "button", onclick: () => { add({ type: "scrape" }).first.focus(); onChange(); } }, "Add target");
  for (const target of initial) add(target);
  return {
    element: el("section", { class: "card", "aria-label": "Targets" }, el("h2", {}, "Targets"), list, addButton),
    read: () => all.map((target) => target.read()),
    controls: () => all.flatMap((target, index) => target.controls().map(([path, input]) => [`/targets/${index}${path}`, input])),
  };
}

/** Returns the fields of the schedule: a text or a cron expression, and a time zone. The line below shows its next runs. */
function scheduleFields(schedule) {
  const mode = el("select", {}, el("option", { value: "text" }, "in words"), el("option", { value: "cron" }, "as a cron expression"));
  mode.value = schedule ? "cron" : "text";
  const text = el("input", { type: "text", maxlength: 128, autocomplete: "off", spellcheck: "false", list: "schedule-texts", placeholder: "every day at 9:00" });
  const cron = el("input", { type: "text", maxlength: 128, autocomplete: "off", spellcheck: "false", placeholder: "0 9 * * *", value: schedule?.cron ?? "" });
  const zone = el("input", { type: "text", maxlength: 128, autocomplete: "off", spellcheck: "false", list: "time-zones", value: schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC" });
  const fields = { text: field("Schedule", text, "Such as `every 30 minutes` or `every weekday at 8:30 am`."), cron: field("Cron expression", cron, "Minute, hour, day of month, month and weekday.") };
  const update = () => { for (const [key, element] of Object.entries(fields)) element.hidden = key !== mode.value; };
  mode.addEventListener("change", update);
  update();
  const zones = Intl.supportedValuesOf?.("timeZone") ?? [];
  const options = (values) => values.map((value) => el("option", { value }));
  const live = el("p", { class: "live", role: "status" });
  const read = () => ({ [mode.value]: (mode.value === "text" ? text : cron).value.trim(), timezone: zone.value.trim() || undefined });
  return {
    element: el("div", {}, el("div", { class: "row" }, field("Format", mode), fields.text, fields.cron, field("Time zone", zone)), live,
      el("datalist", { id: "schedule-texts" }, ...options(SCHEDULES)), el("datalist", { id: "time-zones" }, ...options(["UTC", ...zones.filter((value) => value !== "UTC")]))),
    read,
    controls: () => [["/schedule/text", text], ["/schedule/cron", cron], ["/schedule/timezone", zone], ["/schedule", mode.value === "text" ? text : cron]],
    /** Shows the schedule in words with its next runs, or its violations. */
    show: (described, errors) => {
      const input = mode.value === "text" ? text : cron;
      const isEmpty = !input.value.trim();
      const messages = (isZone) => errors.filter(({ path }) => (path === "/schedule/timezone") === isZone).map(({ message }) => message).join("; ");
      showFieldError(input, isEmpty ? "" : messages(false));
      showFieldError(zone, messages(true));
      const runs = described ? described.nextRuns.map((run) => `${formatZoned(run, zone.value.trim() || "UTC")} (${formatRelative(run)})`) : [];
      live.replaceChildren(...(described ? [el("strong", {}, described.words), el("span", {}, "Next three runs:"), ...runs.map((run) => el("span", {}, run))] : [isEmpty ? "The schedule and its next three runs are shown here." : "The schedule is not valid."]));
    },
  };
}

/** Returns a function that reads the schedule and the credits of the form after a pause, with a function that stops it. */
function previewer(schedule, estimate, read) {
  let [timer, latest] = [null, 0];
  const update = async () => {
    latest += 1;
    const number = latest;
    try {
      const result = await request("POST", "/dashboard/monitor/preview", read());
      if (number !== latest) return;
      schedule.show(result.schedule, result.errors);
      const { estimatedCreditsPerCheck: check, estimatedCreditsPerMonth: month } = result;
      estimate.textContent = month === null ? "The estimated credits are shown here when all fields are valid." : `About ${countText(month, "credit")} in 30 days, ${formatCount(check)} for each check.`;
    } catch (error) {
      if (number === latest && estimate.isConnected) estimate.textContent = `The estimate could not be computed: ${error.message}`;
    }
  };
  const schedulePreview = () => { clearTimeout(timer); timer = setTimeout(update, PREVIEW_DELAY_MS); };
  return Object.assign(schedulePreview, { stop: () => { clearTimeout(timer); latest += 1; } });
}

function judgeFields(monitor) {
  const goal = el("textarea", { rows: 2, maxlength: 2000, dir: "auto", value: monitor?.goal ?? "", placeholder: "Tell me when the price of Sencha changes. Other teas do not matter." });
  // Without a goal, only a search needs to know that nothing is judged.
  const isJudged = monitor?.goal ? monitor.judgeEnabled : !monitor?.targets.some(({ type }) => type === "search");
  const judge = el("input", { type: "checkbox", checked: isJudged });
  return {
    element: el("div", {}, field("Goal", goal, "The changes that matter, in words. A language model judges each change by it."), field("Judge changes by the goal", judge, "Searches need a goal, unless this is off.")),
    read: () => ({ goal: goal.value.trim() ? goal.value : null, judgeEnabled: goal.value.trim() && monitor ? judge.checked : judge.checked ? undefined : false }),
    controls: [["/goal", goal], ["/judgeEnabled", judge]],
  };
}

function notificationFields(monitor) {
  const { url: hookUrl, events: hookEvents, ...hookOptions } = monitor?.webhook ?? {};
  const { email: oldEmail, slack: oldSlack, channels: oldChannels } = monitor?.notification ?? {};
  const url = el("input", { type: "text", inputmode: "url", spellcheck: "false", autocomplete: "off", value: hookUrl ?? "", placeholder: "https://hooks.example.net/websvc" });
  const events = checkboxGroup("Webhook events", EVENTS, hookEvents ?? EVENTS);
  const email = el("input", { type: "checkbox", checked: oldEmail?.enabled === true });
  const recipients = el("textarea", { rows: 2, spellcheck: "false", placeholder: "one per line", value: (oldEmail?.recipients ?? []).join("\n") });
  const diffs = el("input", { type: "checkbox", checked: oldEmail?.includeDiffs === true });
  const readEmail = () => {
    const addresses = linesOf(recipients.value);
    const isUsed = oldEmail || email.checked || addresses.length;
    return isUsed ? { ...oldEmail, enabled: email.checked, recipients: addresses, includeDiffs: diffs.checked } : undefined;
  };
  const slackUrl = el("input", { type: "text", inputmode: "url", spellcheck: "false", autocomplete: "off", value: oldSlack?.webhookUrl ?? "" });
  const slack = el("input", { type: "checkbox", checked: oldSlack?.enabled === true });
  const readSlack = () => (oldSlack || slack.checked || slackUrl.value.trim() ? { ...oldSlack, enabled: slack.checked, webhookUrl: slackUrl.value.trim() || undefined } : undefined);
  const channels = el("textarea", { rows: 3, spellcheck: "false", autocomplete: "off", placeholder: "ntfy://tea-prices", value: (oldChannels ?? []).map((channel) => channel.url).join("\n") });
  // A channel keeps its statuses and template, which have no field here.
  const readChannels = () => linesOf(channels.value).map((text) => oldChannels?.find((channel) => channel.url === text) ?? { url: text });
  const test = channelTest(readChannels);
  return {
    element: el("div", {},
      field("Webhook URL", url, Object.keys(hookOptions).length ? "Its headers and metadata stay as they are." : "Empty: no events."), events.group,
      field("Send emails", email), field("Email recipients", recipients, "One per line. Without any, nothing is sent."), field("Emails include the changes", diffs),
      field("Send messages to Slack", slack), field("Slack webhook URL", slackUrl, "The URL of an incoming webhook."),
      field("Channels", channels, "One URL per line: ntfy, gotify, discord, tgram, slack, mmost, workflows (Teams), matrix, pover or json."), test),
    read: () => {
      const hook = url.value.trim();
      const [emailOptions, slackOptions] = [readEmail(), readSlack()];
      const channelOptions = oldChannels || channels.value.trim() ? readChannels() : undefined;
      return {
        webhook: hook ? { ...hookOptions, url: hook, events: events.read() } : null,
        notification: emailOptions || slackOptions || channelOptions ? { email: emailOptions, slack: slackOptions, channels: channelOptions } : undefined,
      };
    },
    controls: [["/webhook", url], ["/webhook/events", events.group.querySelector("input")], ["/notification/email/recipients", recipients], ["/notification/email", email], ["/notification/slack/webhookUrl", slackUrl], ["/notification/slack", slack], ["/notification/channels", channels]],
  };
}

/** Returns a button that sends a test message to each channel, with the outcomes. */
function channelTest(readChannels) {
  const results = el("div", { role: "status" });
  const send = async (channel) => {
    const name = channel.url.split("://")[0];
    try {
      const { success, service, error } = await request("POST", "/v2/monitor/notification/test", { url: channel.url, template: channel.template });
      return success ? `${service}: the test message was accepted` : `${service}: ${error}`;
    } catch (error) {
      return `${name}: ${error.message}`;
    }
  };
  const button = el("button", { type: "button", onclick: async () => {
    button.disabled = true;
    const texts = [];
    // One after the other, because each is a request of the team.
    for (const channel of readChannels()) texts.push(await send(channel));
    results.replaceChildren(...(texts.length ? texts : ["Enter the URL of a channel first."]).map((text) => el("p", {}, text)));
    button.disabled = false;
  } }, "Send a test to the channels");
  return el("div", {}, button, results);
}
