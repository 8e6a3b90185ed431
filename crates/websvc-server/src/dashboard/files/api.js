// The service, asked with the cookie of the session and its token against forged requests.

let token = null;
let signedOut = () => {};

/** A refusal, with what the service said. */
export class Refusal extends Error {
  constructor(status, body) {
    const details = (body.details ?? []).map(({ path, message }) => `${path || "/"}: ${message}`);
    // The text repeats the first of the details for clients that show nothing else.
    const error = (body.error ?? `the service answered ${status}`).split(`: ${details[0]}`)[0];
    super([error, ...details].join("; "));
    this.status = status;
    this.body = body;
  }
}

/** Sets what is done when the session has ended. */
export const whenSignedOut = (action) => { signedOut = action; };

/** Asks, and returns the answer's JSON. */
export async function ask(method, path, body) {
  const headers = { accept: "application/json" };
  if (token) headers["x-csrf-token"] = token;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin" });
  } catch {
    throw new Error("the service could not be reached");
  }
  const text = await response.text();
  let answer = {};
  try { answer = text ? JSON.parse(text) : {}; } catch { /* a proxy's page: the status says enough */ }
  if (response.ok) return answer;
  if (response.status === 401 && path !== "/dashboard/session") signedOut();
  throw new Refusal(response.status, answer);
}

/** Takes over who is signed in, as the service said. */
export function adopt(session) {
  token = session.csrfToken ?? null;
  return session;
}
