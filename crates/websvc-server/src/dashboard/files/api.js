// Requests to the service, with the cookie of the session and its token against CSRF.

let csrfToken = null;
let onSessionEnd = () => {};

/** An error response of the service. */
export class ApiError extends Error {
  constructor(status, body) {
    const details = (body.details ?? []).map(({ path, message }) => `${path || "/"}: ${message}`);
    // The text repeats the first detail for clients that display nothing else.
    const error = (body.error ?? `the service responded with status ${status}`).split(`: ${details[0]}`)[0];
    super([error, ...details].join("; "));
    this.status = status;
    this.body = body;
  }
}

/** Sets the action for the end of the session. */
export const setOnSessionEnd = (action) => { onSessionEnd = action; };

/** Sends a request, and returns the JSON of the response. */
export async function request(method, path, body) {
  const headers = { accept: "application/json" };
  if (csrfToken) headers["x-csrf-token"] = csrfToken;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin" });
  } catch {
    throw new Error("the service could not be reached");
  }
  const text = await response.text();
  let json = {};
  try { json = text ? JSON.parse(text) : {}; } catch { /* The page of a proxy: the status is enough. */ }
  if (response.ok) return json;
  if (response.status === 401 && path !== "/dashboard/session") onSessionEnd();
  throw new ApiError(response.status, json);
}

/** Stores the token of a session, and returns the session. */
export function setSession(session) {
  csrfToken = session.csrfToken ?? null;
  return session;
}
