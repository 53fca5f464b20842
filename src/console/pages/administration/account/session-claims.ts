/**
 * Reads the session ID from an access token; returns an empty object if the token has no session ID. The token is not
 * verified here; the service verifies it.
 */
export function sessionOf(token: string): { readonly jti?: string } {
  try {
    const part = token.split('.')[1] ?? '';
    const { jti }: { jti?: unknown } = JSON.parse(atob(part.replaceAll('-', '+').replaceAll('_', '/')));
    return typeof jti === 'string' ? { jti } : {};
  } catch {
    return {};
  }
}
