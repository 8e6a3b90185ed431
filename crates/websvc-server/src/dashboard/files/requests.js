// The requests of late, with the time that each stage took.

import { ask } from "./api.js";
import { el, field, table, time } from "./dom.js";

/** Shows the page, and keeps it fresh until it is left. */
export async function requests(place) {
  const fresh = el("input", { type: "checkbox" });
  const shown = el("div");
  const show = async () => {
    const { requests: rows } = await ask("GET", "/dashboard/requests?limit=100");
    shown.replaceChildren(table("The last 100 requests", ["When", "Operation", "Asked for", "Team", "Status", ["Time in ms", "number"], "Stages", ["Credits", "number"], "Id"],
      rows.map((row) => [time(row.at), row.operation, row.query ?? "-", row.team ?? "-", el("span", { class: row.status < 400 ? "good" : "bad" }, String(row.status)), (row.elapsedUs / 1000).toFixed(1), stages(row.stages), String(row.credits), row.id]),
      "No request was made yet, or none that is kept."));
  };
  place.append(el("p", {}, "Requests under zero data retention are not here."), field("Renew every 5 seconds", fresh), shown);
  await show();
  const clock = setInterval(() => { if (fresh.checked) show().catch(() => {}); }, 5000);
  return () => clearInterval(clock);
}

const stages = (all) => Object.entries(all ?? {}).map(([stage, us]) => `${stage} ${(us / 1000).toFixed(1)}`).join(", ");
