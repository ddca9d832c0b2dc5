// The fills that charts refer to by name, once for the whole page.

import { html } from "./html.ts";

export const PATTERNS = html`<svg class="patterns" aria-hidden="true"><defs>
<pattern id="hatched" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0,0V5" stroke="var(--mark)" stroke-width="2.5"/></pattern>
<pattern id="dotted" width="5" height="5" patternUnits="userSpaceOnUse"><circle cx="2.5" cy="2.5" r="1.25" fill="var(--held)"/></pattern>
</defs></svg>
`;
