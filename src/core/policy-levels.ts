/** How much an agent may do. */
export const policyLevels = ['permissive', 'moderate', 'strict'] as const
export type PolicyLevel = (typeof policyLevels)[number]
