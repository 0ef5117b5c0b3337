module tour

go 1.25.0

require (
	github.com/oapi-codegen/oapi-codegen/v2 v2.8.2
	github.com/oapi-codegen/runtime v1.9.0
)

tool github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen
